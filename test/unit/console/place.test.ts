import { expect, test } from 'vitest';
import {
  citationText,
  editorLink,
  placeText,
  splitPlace,
  symbolName,
} from '../../../services/console/page/parts/place.js';

test('a place is read as it is written', () => {
  expect(splitPlace(placeText('src/a:b.ts', 7))).toEqual({ path: 'src/a:b.ts', line: 7 });
  expect(placeText('a.ts', 3, 9)).toBe('a.ts:3-9');
  expect(splitPlace('README')).toEqual({ path: 'README', line: 0 });
  expect(splitPlace('lib/a.ts:Name')).toEqual({ path: 'lib/a.ts:Name', line: 0 });
});

test('a symbol is named by its file and its container', () => {
  const its = { file_path: 'a.ts', container: 'Bus', symbol: 'open' };
  expect(symbolName(its)).toBe('a.ts#Bus.open');
  expect(symbolName({ ...its, container: '' })).toBe('a.ts#open');
});

test('a citation has its place, its version and numbered lines, with what was left out', () => {
  const lines = [
    { line: 9, text: 'one' },
    { line: 11, text: 'two' },
  ];
  const its = { place: 'a.ts:9-11', subject: 'open (function)', lines, blob: '0123456789abcdef' };
  expect(citationText(its)).toBe(
    'a.ts:9-11 open (function) (blob 0123456789ab)\n\n```\n 9  one\n    …\n11  two\n```',
  );
});

test('no line of a citation closes its fence', () => {
  const lines = [{ line: 1, text: '```` x' }];
  const rows = citationText({ place: 'a.md:1', subject: '', lines }).split('\n');
  expect(rows.at(-1)).toBe('`````');
  expect(rows.filter((row) => row === '`````')).toHaveLength(2);
});

test('an editor is given the file below the tree, and nothing outside it', () => {
  const its = { root: '/work/my tree/', path: 'src/a#b?.ts', line: 5 };
  expect(editorLink('vscode', its)).toBe('vscode://file/work/my%20tree/src/a%23b%3F.ts:5');
  expect(editorLink('jetbrains', its)).toBe(
    'jetbrains://idea/navigate/reference?project=my+tree&path=src%2Fa%23b%3F.ts%3A5',
  );
  expect(editorLink('none', its)).toBeUndefined();
  expect(editorLink('vscode', { ...its, root: '' })).toBeUndefined();
  expect(editorLink('vscode', { ...its, path: '../../etc/passwd' })).toBeUndefined();
});
