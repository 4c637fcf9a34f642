import { expect, test } from 'vitest';
import { strokeOf } from '../../../services/console/page/keys.js';

const pressed = (key: string, its: Partial<Parameters<typeof strokeOf>[0]> = {}) => ({
  ...{ key, isTyping: false, hasModifier: false },
  ...its,
});

test('a letter behind g leads to a page, alone to none', () => {
  expect(strokeOf(pressed('g'), false)).toEqual({ kind: 'wait' });
  expect(strokeOf(pressed('a'), true)).toEqual({ kind: 'go', letter: 'a' });
  expect(strokeOf(pressed('g'), true)).toEqual({ kind: 'go', letter: 'g' });
  expect(strokeOf(pressed('a'), false)).toEqual({ kind: 'none' });
});

test('what is typed, and what the browser has a use for, does nothing', () => {
  for (const key of ['g', '/', '?']) {
    expect(strokeOf(pressed(key, { isTyping: true }), false)).toEqual({ kind: 'none' });
    expect(strokeOf(pressed(key, { hasModifier: true }), true)).toEqual({ kind: 'none' });
  }
  expect(strokeOf(pressed('/'), false)).toEqual({ kind: 'search' });
  expect(strokeOf(pressed('?'), true)).toEqual({ kind: 'help' });
});
