import type { ServerContext } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Progress } from '../../../services/mcp/progress.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Told {
  progressToken: string;
  progress: number;
  message: string;
}

/** What the SDK hands to a tool, as far as progress looks at it. */
function calledBy(
  token: string | undefined,
  told: Told[],
  signal = new AbortController().signal,
): ServerContext {
  const notify = (each: { params?: unknown }): Promise<void> => {
    told.push(each.params as Told);
    return Promise.reject(new Error('the client is gone'));
  };
  const mcpReq = { _meta: { progressToken: token }, signal, notify };
  return { mcpReq } as unknown as ServerContext;
}

test('every second says that it goes on, steps and the end are told at once', async () => {
  const told: Told[] = [];
  const progress = new Progress(calledBy('t', told), 'asking');
  vi.advanceTimersByTime(2_000);
  progress.tell('mm has answered');
  vi.advanceTimersByTime(1_000);
  await progress.done();
  vi.advanceTimersByTime(5_000);
  expect(told.map(({ message }) => message)).toEqual([
    'asking',
    'asking (1 s)',
    'asking (2 s)',
    'mm has answered',
    'mm has answered (3 s)',
    'done',
  ]);
  const steps = told.map((each) => each.progress);
  expect(steps.every((step, at) => at === 0 || step > steps[at - 1]!)).toBe(true);
});

test('whoever did not ask for it hears nothing', async () => {
  const told: Told[] = [];
  const progress = new Progress(calledBy(undefined, told), 'asking');
  vi.advanceTimersByTime(3_000);
  await progress.done();
  expect(told).toEqual([]);
});

test('whoever has cancelled hears no more', async () => {
  const told: Told[] = [];
  const cancelled = new AbortController();
  const progress = new Progress(calledBy('t', told, cancelled.signal), 'asking');
  cancelled.abort();
  vi.advanceTimersByTime(2_000);
  progress.tell('mm has answered');
  await progress.done();
  expect(told.map(({ message }) => message)).toEqual(['asking']);
});
