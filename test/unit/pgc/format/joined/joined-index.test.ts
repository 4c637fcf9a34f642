import { join } from 'node:path';
import { expect, test } from 'vitest';
import { JoinedIndex } from '../../../../../src/pgc/format/joined/joined-index.js';
import { SegmentWriter } from '../../../../../src/pgc/format/segment-writer.js';
import {
  segmentLayout,
  writeSections,
} from '../../../../../src/pgc/format/container/segment-file.js';
import { Segment } from '../../../../../src/pgc/format/segment.js';
import type { ShardInfo } from '../../../../../src/pgc/format/shard-index.js';
import { Miner } from '../../../../../src/pgc/mine/mine.js';
import { blobId } from '../../../../../src/pgc/source/blob.js';
import { languageOf } from '../../../../../src/pgc/source/language.js';
import { TemporaryTree } from '../../../../support/git-tree.js';
import { said } from '../../../../support/said.js';

type Files = Record<string, string>;

const before: Files = {
  'a/dev.c':
    '#include "dev.h"\n#define LIMIT 4\nstatic int dev_read(struct dev *d) { return d->size + LIMIT; }\nstruct ops dev_ops = { .read = dev_read };\nint dev_open(void) { return dev_read(0) + helper(1); }\nmodule_init(dev_open);\n',
  'a/dev.h':
    'struct dev { int size; };\nstruct ops { int (*read)(struct dev *d); };\nint helper(int);\n',
  'b/Queue.java':
    'package b;\nimport java.util.List;\n/** Holds what waits. */\nclass Queue implements Waiting {\n  private List<String> all;\n  void add(String one) { all.add(one); notifyAll(); }\n  int size() { return all.size(); }\n}\n',
  'b/readme.md': '# Queue\n\nThe queue holds what waits for a reader.\n',
  'c/gone.go': 'package c\n\nfunc Gone() int { return helper() }\n',
  'c/main.go':
    'package c\n\nimport "fmt"\n\nfunc main() { fmt.Println(Gone(), size) }\n\nvar size = 3\n',
  'd/tool.py': 'LIMIT = 3\n\n\ndef size(of):\n    return helper(of) + LIMIT\n\n\nsize(LIMIT)\n',
};
const after: Files = {
  ...before,
  'a/Kconfig': 'config DEV\n\tbool "Device"\n',
  'a/dev.c':
    '#include "dev.h"\nstatic int dev_write(struct dev *d) { return d->size; }\nint dev_open(void) { return dev_write(0); }\nint zeta(void);\n',
  'b/Other.java': 'package b;\nclass Other { void run(Queue queue) { queue.add("x"); size(); } }\n',
  'd/tool.py': 'def size(of):\n    """The size of it."""\n    return helper(helper(of))\n',
  'z/last.ts':
    'export const size = 1;\nexport function helper(x: number) { return x + size; }\nhelper(2);\n',
};
delete (after as Partial<Files>)['c/gone.go'];

const info = { alias: 'all', version: '1', languages: [], scope: ['.'] } as unknown as ShardInfo;

async function segmentOf(folder: string, name: string, files: Files): Promise<Segment> {
  await using miner = new Miner();
  const writer = new SegmentWriter();
  for (const path of Object.keys(files).sort()) {
    const text = Buffer.from(files[path] ?? '');
    const language = languageOf(path);
    if (language === undefined) throw new Error(path);
    const facts = await miner.mine(language, text);
    writer.add({ path, language, blob: blobId(text), lines: facts.lines }, facts);
  }
  const path = join(folder, name);
  await writeSections(path, segmentLayout, writer.finish(info));
  return await Segment.open(path);
}

test('a shard in two segments says what one segment of the same files says', async () => {
  await using folder = await TemporaryTree.create();
  const base = await segmentOf(folder.root, 'base.seg', before);
  const changed = Object.entries(after).filter(([path, text]) => before[path] !== text);
  const delta = await segmentOf(folder.root, 'delta.seg', Object.fromEntries(changed));
  const hides = new Set([...changed.map(([path]) => path), 'c/gone.go']);
  const joined = new JoinedIndex(
    [
      { segment: base, hides: new Set() },
      { segment: delta, hides },
    ],
    ...([info, undefined] as const),
  );
  const whole = await segmentOf(folder.root, 'whole.seg', after);
  expect(said(joined)).toEqual(said(whole));
});

test('two segments of which nothing is hidden are one', async () => {
  await using folder = await TemporaryTree.create();
  const paths = Object.keys(before);
  const part = (kept: (at: number) => boolean): Files =>
    Object.fromEntries(paths.filter((_, at) => kept(at)).map((path) => [path, before[path] ?? '']));
  const sources = [
    {
      segment: await segmentOf(
        folder.root,
        'even.seg',
        part((at) => at % 2 === 0),
      ),
      hides: new Set<string>(),
    },
    {
      segment: await segmentOf(
        folder.root,
        'odd.seg',
        part((at) => at % 2 === 1),
      ),
      hides: new Set<string>(),
    },
  ];
  const joined = new JoinedIndex(sources, info, undefined);
  expect(said(joined)).toEqual(said(await segmentOf(folder.root, 'whole.seg', before)));
});
