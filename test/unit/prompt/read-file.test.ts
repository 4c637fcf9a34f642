import { FilesBelow, readBytesMax } from '../../../src/pgc/source/files-below.js';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readEntries } from '../../../src/prompt/grammar/read-result.js';
import { temporaryFolder } from '../../support/temporary.js';

let folder: ReturnType<typeof temporaryFolder>;
let root: string;
let files: FilesBelow;

beforeEach(async () => {
  folder = temporaryFolder();
  root = path.join(folder.path, 'root');
  mkdirSync(path.join(root, 'src'), { recursive: true });
  mkdirSync(path.join(folder.path, 'root-beside'));
  for (const place of ['root/a.md', 'root/src/b.md', 'secret', 'root-beside/secret'])
    writeFileSync(path.join(folder.path, place), `text of ${place}\n`);
  files = await FilesBelow.of(root);
});
afterEach(() => {
  folder.remove();
});

const result = async (wanted: string): Promise<string> => {
  const [use, answer] = await readEntries(wanted, files);
  expect(use).toEqual({ type: 'tool_use', tool: 'read', path: wanted });
  expect(answer.type).toBe('tool_result');
  return answer.is_error ? `${answer.code}: ${answer.text}` : answer.text;
};

test('a file is a call and its text', async () => {
  expect(await readEntries('./src/b.md', files)).toEqual([
    { type: 'tool_use', tool: 'read', path: './src/b.md' },
    { type: 'tool_result', is_error: false, text: 'text of root/src/b.md\n' },
  ]);
  expect(await result(path.join(root, 'a.md'))).toBe('text of root/a.md\n');
  expect(await result('src/../a.md')).toBe('text of root/a.md\n');
});

test('links are followed within the root', async () => {
  symlinkSync('src/b.md', path.join(root, 'link'));
  symlinkSync('src', path.join(root, 'folder'));
  expect(await result('link')).toBe('text of root/src/b.md\n');
  expect(await result('folder/b.md')).toBe('text of root/src/b.md\n');
});

test('a root that is reached by a link is the same root', async () => {
  const link = path.join(folder.path, 'link-to-root');
  symlinkSync(root, link);
  files = await FilesBelow.of(link);
  expect(await result(path.join(link, 'a.md'))).toBe('text of root/a.md\n');
  expect(await result(path.join(root, 'a.md'))).toBe('text of root/a.md\n');
});

test('what is outside is refused, by its name and by links', async () => {
  symlinkSync('../secret', path.join(root, 'link'));
  symlinkSync('..', path.join(root, 'up'));
  symlinkSync('link', path.join(root, 'link-to-link'));
  const wanted = [
    '../secret',
    path.join(folder.path, 'secret'),
    '/etc/passwd',
    'link',
    'up/secret',
  ];
  for (const each of [
    ...wanted,
    'link-to-link',
    '..',
    '../root-beside/secret',
    'up/missing/../secret',
  ])
    expect(await result(each), each).toBe(
      `READ_OUTSIDE: ${each} lies outside the folder that the agent may read`,
    );
});

test('what is missing, or no file, is an error', async () => {
  symlinkSync('nowhere', path.join(root, 'dangling'));
  symlinkSync('circle', path.join(root, 'circle'));
  for (const each of ['none.md', 'a.md/b', 'dangling', 'none/../../root/none'])
    expect(await result(each), each).toBe(`READ_MISSING: there is no file ${each}`);
  for (const each of ['src', '.', root])
    expect(await result(each), each).toBe(`READ_NOT_A_FILE: ${each} is not a regular file`);
  expect(await result('circle')).toBe('READ_UNREADABLE: circle cannot be read: ELOOP');
  expect(await result('a\0b')).toMatch(/^READ_UNREADABLE: /);
});

test('a pipe and a socket neither hang nor answer', async () => {
  execFileSync('mkfifo', [path.join(root, 'pipe')]);
  symlinkSync('pipe', path.join(root, 'link'));
  expect(await result('pipe')).toBe('READ_NOT_A_FILE: pipe is not a regular file');
  expect(await result('link')).toBe('READ_NOT_A_FILE: link is not a regular file');
  const devices = await FilesBelow.of('/dev');
  expect(await devices.read('zero')).toMatchObject({ refused: { code: 'READ_NOT_A_FILE' } });
});

test('a pipe that takes the place of a file is not waited for', async () => {
  const located = await files.locate('a.md');
  await rm(path.join(root, 'a.md'));
  execFileSync('mkfifo', [path.join(root, 'a.md')]);
  await expect(files.open(located, 'a.md')).rejects.toMatchObject({ code: 'READ_NOT_A_FILE' });
});

test('50 MB are refused with their size, and the limit itself is not', async () => {
  writeFileSync(path.join(root, 'sparse'), '');
  truncateSync(path.join(root, 'sparse'), 50_000_000);
  expect(await result('sparse')).toBe(
    'READ_TOO_LARGE: sparse has 50000000 bytes; the limit is 262144',
  );
  writeFileSync(path.join(root, 'full'), 'x'.repeat(readBytesMax));
  expect(await result('full')).toHaveLength(readBytesMax);
  writeFileSync(path.join(root, 'more'), 'x'.repeat(readBytesMax + 1));
  expect(await result('more')).toMatch(/^READ_TOO_LARGE: more has 262145 bytes/);
});

test.each([
  ['NUL', Buffer.from('text\0text')],
  ['a broken character', Buffer.from([0x61, 0xc3, 0x28])],
  ['a cut character', Buffer.from([0x61, 0xe8, 0xaa])],
  ['another encoding', Buffer.from('é', 'latin1')],
])('%s is no text', async (_, bytes) => {
  writeFileSync(path.join(root, 'x'), bytes);
  expect(await result('x')).toBe('READ_BINARY: x is not UTF-8 text');
});

test('commands in a file are text', async () => {
  const text = '/read secret\r\n/push name=x "y"\n/run\n\nprose\n/push z\n';
  writeFileSync(path.join(root, 'x'), text);
  expect(await result('x')).toBe(text);
});

test('a link that takes the place of a file, or of its folder, after it was looked at is not followed', async () => {
  const [file, inner] = [await files.locate('a.md'), await files.locate('src/b.md')];
  await rm(path.join(root, 'a.md'));
  await symlink('../secret', path.join(root, 'a.md'));
  await writeFile(path.join(folder.path, 'b.md'), 'text of a secret');
  await rename(path.join(root, 'src'), path.join(root, 'old'));
  await symlink('..', path.join(root, 'src'));
  await expect(files.open(file, 'a.md')).rejects.toMatchObject({ code: 'READ_OUTSIDE' });
  await expect(files.open(inner, 'src/b.md')).rejects.toMatchObject({ code: 'READ_OUTSIDE' });
});

test('nothing from outside is read while files and links take turns', async () => {
  const place = path.join(root, 'a.md');
  let isOver = false;
  const turns = (async () => {
    for (let at = 0; !isOver; at += 1) {
      await symlink('../secret', `${place}.next`);
      await rename(`${place}.next`, place);
      await writeFile(`${place}.next`, 'text of root/a.md\n');
      await rename(`${place}.next`, place);
      // Of different lengths, so that each step of a reading meets each change.
      for (let left = at % 12; left > 0; left -= 1) await turn();
    }
  })();
  const answers = new Set<string>();
  try {
    for (let at = 0; at < 2_000; at += 1) answers.add((await result('a.md')).split(':')[0]!);
  } finally {
    isOver = true;
    await turns;
  }
  expect(answers).toContain('text of root/a.md\n');
  for (const each of answers) expect(['text of root/a.md\n', 'READ_OUTSIDE']).toContain(each);
});
