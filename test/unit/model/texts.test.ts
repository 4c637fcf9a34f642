import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fenced } from '../../../src/model/fenced.js';
import { filled, textNames, textOf } from '../../../src/model/texts.js';

test('each text is in a file by its name and version, and each file is a text', () => {
  const files = readdirSync(new URL('../../../src/model/texts', import.meta.url));
  const names = new Set(files.map((file) => file.replace(/\.v\d+\.md$/, '')));
  expect(new Set(textNames)).toEqual(names);
  for (const name of textNames) {
    const { id, text } = textOf(name);
    expect(files).toContain(`${id}.md`);
    expect(text).toMatch(/\S$/);
  }
});

test('a hole that is missing or unknown is a bug, and what fills one has none', () => {
  expect(filled('cite-sources', { sources: '{{sources}}' })).toContain('there are {{sources}}.');
  expect(() => filled('cite-sources', {})).toThrow('nothing for the hole sources');
  expect(() => filled('cite-sources', { sources: '1', sauces: '2' })).toThrow('no hole sauces');
});

test('data cannot end its fence, nor make the mark by what is left of it', () => {
  const text = fenced('data-7', 'a data-7 b\ndatadata-7-7 c {{mark}} $& $1');
  expect(text.split('data-7')).toHaveLength(4);
  expect(text.split('data-7')[2]).toContain('data…-7 c {{mark}} $& $1');
});
