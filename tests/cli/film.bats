#!/usr/bin/env bats
# Films of simrender, made by ffmpeg: number of pictures, duration, reproducible bytes, and the message without ffmpeg.

load common

# A motion of 0.2 s in 20 steps (data.bash).
film=(simrender mesh.npz basis.npz traj.npz --size 96x72 --samples 1)

needs_ffmpeg() {
    if ! command -v ffmpeg > /dev/null || ! command -v ffprobe > /dev/null; then skip "no ffmpeg"; fi
}

# probe FILE PICTURES RATE SECONDS WIDTH HEIGHT, as ffprobe counts them
probe() {
    local got
    got=$(ffprobe -v error -count_frames -select_streams v:0 -show_entries stream=nb_read_frames,width,height,avg_frame_rate:format=duration -of default=nw=1 "$1")
    grep -qx "nb_read_frames=$2" <<< "$got" || fault "$1: not $2 pictures: $got"
    grep -qx "avg_frame_rate=$3/1" <<< "$got" || fault "$1: not $3 a second: $got"
    awk -F= -v s="$4" '$1 == "duration" && ($2 - s) ^ 2 <= 0.0015 ^ 2 { good = 1 } END { exit !good }' <<< "$got" || fault "$1: not $4 s: $got"
    [ "$(grep -cx "width=$5\|height=$6" <<< "$got")" = 2 ] || fault "$1: not $5x$6: $got"
}

@test "a film has the right number of pictures and duration" {
    local ending threads
    needs_ffmpeg
    for ending in mp4 webm gif; do
        done_well "${film[@]}" -o real.$ending
        probe real.$ending 6 25 0.24 96 72 # 0.2 s · 25/s, and the first
    done
    [[ $err == *'a film of 0.24 s: 6 pictures of 96x72'* ]] || fault "$err"
    done_well "${film[@]}" --fps 50 --speed 0.1 -o slow.mp4
    probe slow.mp4 101 50 2.02 96 72
    done_well "${film[@]}" --frames 5-15 --every 5 --fps 10 --speed 0.02 -o part.mp4
    probe part.mp4 51 10 5.1 96 72 # 0.1 s
    for threads in 1 3; do
        "${film[@]}" -q --threads $threads -o t$threads.mp4
        same_bytes real.mp4 t$threads.mp4 "$threads threads"
    done
    input=traj.npz done_well simrender mesh.npz basis.npz - --size 96x72 --samples 1 -o pipe.mp4
    same_bytes real.mp4 pipe.mp4 'from a pipe'
    done_well simrender scene.json motion.npz --size 96x72 --samples 1 --speed 0.5 -o scene.mp4
    probe scene.mp4 46 25 1.84 96 72 # 10 frames from 0 s to 0.9 s
    no_faults
}

@test "the pictures of a film are the frames of its times" {
    local k
    needs_ffmpeg
    # 0, 0.05, …, 0.2 s: every fifth frame, without loss
    "${film[@]}" -q --fps 20 -o film.gif
    "${film[@]}" -q --every 5 -o frame_%d.png
    ffmpeg -nostdin -loglevel error -i film.gif film_%d.png
    for k in 0 1 2 3 4; do
        # mean difference of all colours in 8 bits: a palette of 256 colours loses little
        ffmpeg -nostdin -loglevel info -i film_$((k + 1)).png -i frame_$k.png -lavfi psnr -f null - 2> psnr.txt
        grep -o 'average:[0-9.inf]*' psnr.txt | awk -F: '{ exit !($2 == "inf" || $2 > 30) }' || fault "frame $k: $(grep average psnr.txt)"
    done
    [ ! -e film_6.png ] || fault 'more than five pictures'
    no_faults
}

@test "a film that fails leaves the old file and no temporary files" {
    local path=$PATH
    echo old > out.mp4
    mkdir fake empty
    ln -s "$(command -v simrender)" empty/simrender
    PATH=$PWD/empty refused 4 'out.mp4: films are made by ffmpeg, which cannot be started: No such file' "${film[@]}" -o out.mp4
    printf '#!/bin/sh\necho "no such codec" >&2\nexit 3\n' > fake/ffmpeg
    chmod +x fake/ffmpeg
    PATH=$PWD/fake:$path refused 4 'out.mp4: ffmpeg failed \(exit 3\): no such codec' "${film[@]}" -o out.mp4
    printf '#!/bin/sh\nhead -c 1000 > /dev/null\nkill -9 $$\n' > fake/ffmpeg
    PATH=$PWD/fake:$path refused 4 'out.mp4: ffmpeg failed \(signal 9\)' "${film[@]}" -o out.mp4
    rm -r fake empty
    refused 2 '--size: 95x72: width and height of a film in .mp4 are even' "${film[@]::4}" --size 95x72 -o out.mp4
    refused 2 'a film needs a motion' simrender mesh.npz -o out.mp4
    refused 2 'a film needs a motion' simrender mesh.npz modes.npz -o out.mp4
    refused 2 'a film needs a motion of at least two frames' "${film[@]}" --frames 3 -o out.mp4
    refused 2 'a film needs a motion of at least two frames' simrender scene.json -o out.mp4
    refused 2 'the film would have 5e\+09 pictures' "${film[@]}" --speed 1e-9 -o out.mp4
    refused 2 '--sheet makes one picture' "${film[@]}" --sheet 2x2 -o out.mp4
    refused 2 '--slice makes one picture' simrender field.npz --slice z=0.5 -o out.mp4
    refused 2 '--fps means nothing without a film' simrender mesh.npz --fps 9 -o out.png
    refused 2 '--speed means nothing without a film' simrender mesh.npz --speed 9 -o out.png
    refused 2 'out.jpg: pictures are .png, films .mp4, .webm or .gif' simrender mesh.npz -o out.jpg
    no_faults
}
