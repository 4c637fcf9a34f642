import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hyperlinked, opensHyperlinks } from '../../../src/render/hyperlinks.js';
import { temporaryFolder } from '../../support/temporary.js';

const folder = temporaryFolder();
beforeAll(() => {
  mkdirSync(path.join(folder.path, 'net/core'), { recursive: true });
  writeFileSync(path.join(folder.path, 'net/core/sk buff.c'), '');
  writeFileSync(path.join(folder.path, 'net/core/dev.c'), '');
});
afterAll(() => folder.remove());

test('places of files that are there become hyperlinks, everything else stays as it is', () => {
  const text =
    '`x` at net/core/dev.c:12, not at net/core/gone.c:3, nor 10:30 or ../../etc/passwd.d:1';
  const url = `file://${hostname()}${folder.path}/net/core/dev.c#L12`;
  expect(hyperlinked(text, [folder.path])).toBe(
    text.replace(
      'net/core/dev.c:12',
      `\u001b]8;;${url}\u001b\\net/core/dev.c:12\u001b]8;;\u001b\\`,
    ),
  );
});

test('a file beside the root is none of its files', () => {
  const text = '../core/dev.c:12 and core/../../net/core/dev.c:12';
  expect(hyperlinked(text, [path.join(folder.path, 'net')])).toBe(text);
});

test('no more than some places are looked for', () => {
  const far = Array.from({ length: 400 }, (_, at) => `a/${at}.c:1`).join(' ');
  const text = `${far} net/core/dev.c:12`;
  expect(hyperlinked(text, [folder.path])).toBe(text);
});

test.each<[NodeJS.ProcessEnv, boolean]>([
  [{ TERM_PROGRAM: 'vscode' }, true],
  [{ VTE_VERSION: '7006' }, true],
  [{ TERM: 'xterm-kitty' }, true],
  [{ TERM: 'xterm-256color' }, false],
  [{ TERM: 'dumb', TERM_PROGRAM: 'vscode' }, false],
  [{ CI: '1', VTE_VERSION: '7006' }, false],
  [{ TERM: 'xterm', FORCE_HYPERLINK: '1' }, true],
  [{ TERM_PROGRAM: 'vscode', FORCE_HYPERLINK: '0' }, false],
])('%j', (env, opens) => {
  expect(opensHyperlinks(env)).toBe(opens);
});
