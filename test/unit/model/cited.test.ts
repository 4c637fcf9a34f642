import { expect, test } from 'vitest';
import { citedOnly } from '../../../src/model/cited.js';

const sources = [{ id: 1 }, undefined, { id: 3 }];

test('one that was not told is no source, whatever its number', () => {
  const { text, cited, dropped } = citedOnly('It is [1]. It was [2]. It will be [3].', sources);
  expect([text, cited, dropped]).toEqual(['It is [1]. It will be [3].', [{ id: 1 }, { id: 3 }], 1]);
});

test('an abbreviation ends no sentence', () => {
  const { text, dropped } = citedOnly('A ring, e.g. of a card, is made [1]. So, i.e. no.', sources);
  expect([text, dropped]).toEqual(['A ring, e.g. of a card, is made [1].', 1]);
});

test('a sentence needs a source in any script', () => {
  const { text, dropped } = citedOnly(
    'Это так [1]. Это не так.\n环形缓冲区在此[3]。没有来源。是的。[1]',
    sources,
  );
  expect([text, dropped]).toEqual(['Это так [1].\n环形缓冲区在此[3]。 是的。[1]', 2]);
});

test('half of a sentence is never told for the whole of it, wherever its line breaks', () => {
  const told =
    'It is not true that\n`ring_free` frees it. It is freed\nby the card\n[1].\n\n- One [1]\n- two\nNext [3]';
  const { text, dropped } = citedOnly(told, sources);
  expect([text, dropped]).toEqual(['It is freed by the card [1].\n\n- One [1]\n\nNext [3]', 2]);
  const { text: whole } = citedOnly('It is not true that\n`ring_free` frees it [1].', sources);
  expect(whole).toBe('It is not true that `ring_free` frees it [1].');
});
