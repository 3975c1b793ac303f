"""blender --background --factory-startup --python blender.py -- MODEL.obj FILE...: imports .glb and .usda files of a body, and compares it in
frame 20 with an OBJ, whose z is up as in Blender."""
import sys

import bpy
import numpy as np

np.bool = bool # Blender 3.4 of Debian 12 uses this name, which its NumPy no longer has
model, *files = sys.argv[sys.argv.index('--') + 1:]
wanted = np.array([[float(x) for x in line.split()[1:4]] for line in open(model) if line.startswith('v ')])
for path in files:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if path.endswith('.glb'):
        bpy.ops.import_scene.gltf(filepath=path)
    elif hasattr(bpy.ops.wm, 'usd_import') and bpy.app.build_options.usd:
        bpy.ops.wm.usd_import(filepath=path)
    else:
        print(path, ': this Blender has no USD')
        continue
    body, = [thing for thing in bpy.data.objects if thing.type == 'MESH']
    keys = body.data.shape_keys
    print(path, len(body.data.vertices), 'vertices,', len(keys.key_blocks) - 1 if keys else 0, 'shape keys')
    assert len(body.data.vertices) == len(wanted)
    if not keys:
        assert path.endswith('.usda') and bpy.app.version < (4, 0)
        continue
    assert len(keys.key_blocks) == 1 + 10
    for key in keys.key_blocks[1:]: # without this Blender clamps weights to 0 to 1 (KhronosGroup/glTF-Blender-IO#1364)
        key.slider_min, key.slider_max = -10, 10
    scene = bpy.context.scene
    # frames of glTF are of 1/fps s, and those of the motion of 0.01 s
    moment = 20 * 0.01 * scene.render.fps if path.endswith('.glb') else 20
    scene.frame_set(int(moment), subframe=moment - int(moment))
    shape = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    got = np.array([shape.matrix_world @ vertex.co for vertex in shape.data.vertices])
    error = np.linalg.norm(got - wanted, axis=1).max()
    print(path, 'largest difference', error)
    assert error < 3.2e-6, error # of a length of 3 m
