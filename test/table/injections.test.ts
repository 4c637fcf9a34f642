import { loadPolicy } from '../../src/attention/policy/policy-file.js';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/attention/classify/classify.js';
import type { Signal } from '../../src/attention/shapes.js';

/** What comes with a task and is data: some of it gives orders to whoever works on it, most of it is about the work. */

const file = new URL('./injections.json', import.meta.url);
const texts = JSON.parse(readFileSync(file, 'utf8')) as Record<'injected' | 'harmless', string[]>;
const policy = loadPolicy();

async function signalsOf(text: string): Promise<Signal[]> {
  const promises = { read_only: false, idempotency_key: '', data: [text], scope: [] };
  const action = { runner: 'command', argv: ['true'], cwd: '', env: {}, stdin: '', ...promises };
  return (await classify(action, { policy })).findings.map(({ signal }) => signal);
}

describe('in data', () => {
  test('there are enough of both kinds', () => {
    expect(texts.injected.length).toBeGreaterThanOrEqual(30);
    expect(texts.harmless.length).toBeGreaterThanOrEqual(30);
  });

  test.each(texts.injected)('%j instructs', async (text) => {
    expect(await signalsOf(text)).toEqual(['PromptInjection']);
  });

  test.each(texts.harmless)('%j does not', async (text) => {
    expect(await signalsOf(text)).toEqual([]);
  });
});
