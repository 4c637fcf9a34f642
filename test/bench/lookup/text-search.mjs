// A third opinion beside the product and cscope: every line of the text that holds one of the names.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryFolder } from '../kernel/process.mjs';

/** `{ file, line, name }` of every word of `names` in the files; comments and strings included. */
export async function linesWith(names, { root, list }) {
  const words = path.join(temporaryFolder('sigma-words'), 'words');
  writeFileSync(words, `${names.join('\n')}\n`);
  const script = 'tr "\\n" "\\0" < "$1" | xargs -0 grep -aonHwF -f "$2" --';
  const child = spawn('sh', ['-c', script, 'sh', list, words], {
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const found = [];
  for await (const row of createInterface({ input: child.stdout })) {
    const [, file, line, name] = /^(.*?):(\d+):(.*)$/.exec(row) ?? [];
    if (file !== undefined)
      found.push({ file: file.slice(root.length + 1), line: Number(line), name });
  }
  return found;
}
