"""links.py FOLDER FILE ...   checks the relative links of Markdown and HTML files, as seen from FOLDER.

Prints each that leads to no file or to no anchor in FOLDER, and the number of links in the last line. The anchors of
Markdown are those of GitHub."""
import html.parser
import os
import re
import sys
from urllib.parse import unquote


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == 'id':
                self.anchors.add(value)
            elif name in ('href', 'src'):
                self.links.append(value)


class Document:
    def __init__(self, text):
        text = re.sub(r'(?ms)^```.*?^```', '', text)
        self.anchors = set()
        for heading in re.findall(r'(?m)^#+ +(.*?)[ #]*$', text):
            heading = re.sub(r'!?\[([^]]*)\]\([^)]*\)', r'\1', heading)
            name = re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')
            same = [name + mark for mark in ['', *(f'-{n}' for n in range(1, 100))]]
            self.anchors.add(next(n for n in same if n not in self.anchors))
        text = re.sub(r'`[^`\n]*`', '', text)
        forms = [r'\]\(<?([^)\s>]+)', r'(?:href|src)="([^"]*)"', r'(?m)^\[[^]]+\]: *(\S+)']
        self.links = [link for form in forms for link in re.findall(form, text)]


def opened(path):
    with open(path, encoding='utf-8') as file:
        return (Page if path.endswith('.html') else Document)(file.read())


def fault_of(folder, source, link):
    path, _, anchor = link.partition('#')
    target = os.path.normpath(os.path.join(os.path.dirname(source), unquote(path))) if path else source
    if path.startswith('/') or target.startswith('..'):
        return 'leads out'
    there = os.path.join(folder, target)
    if not os.path.exists(there):
        return 'no file'
    if not anchor:
        return None
    if not target.endswith(('.md', '.html')):
        return 'an anchor in a file without anchors'
    return None if unquote(anchor) in opened(there).anchors else 'no anchor'


def main():
    folder, count = sys.argv[1], 0
    for source in sys.argv[2:]:
        for link in opened(os.path.join(folder, source)).links:
            if re.match(r'[a-z]+:', link):
                continue
            count += 1
            fault = fault_of(folder, source, link)
            if fault:
                print(f'{source}: {link}: {fault}')
    print(count)


main()
