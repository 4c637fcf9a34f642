// What universal-ctags finds, read from its file in a stream: a kernel has millions of rows.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** ctags' letters, as our symbols name these things. */
export const kindsOfTag = {
  d: ['macro'],
  e: ['constant'],
  f: ['function'],
  g: ['enum'],
  s: ['struct'],
  t: ['type'],
  u: ['union'],
  v: ['variable', 'constant'],
};

/** Every row: `{ name, tag, line, file }`, `file` relative to the root. */
export async function* tagsOf(file, root) {
  for await (const row of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const [name, tag, line, place] = row.split('\t');
    // What has no name in the source gets one from ctags.
    if (place === undefined || name.startsWith('__anon')) continue;
    yield { name, tag, line: Number(line), file: place.slice(root.length + 1) };
  }
}
