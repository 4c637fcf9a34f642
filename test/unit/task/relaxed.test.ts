import { expect, test } from 'vitest';
import { relaxed } from '../../../src/task/life/patches.js';
import { responseOf, taskOf } from '../../support/delegation.js';

const blocked = (code: string, partial: boolean) =>
  relaxed({
    task: taskOf({ grounding: { strategy: 'pgc_cite', evidence_required: true } }),
    response: responseOf({ status: 'blocked', result: 'It looks like the ring.', partial }),
    error: { code, text: '', retryable: true },
    reactions: [],
  } as never);

test('only a result that was done is kept: words of one who could not go on are none', () => {
  expect(blocked('PGC_FAILED', true).event).toEqual({ type: 'result.kept' });
  expect(blocked('PGC_FAILED', false).event).toEqual({ type: 'block.resolved' });
});

test('who goes on without another task owes its own evidence all the same', () => {
  const { event, patch } = blocked('DEPENDENCY_FAILED', false);
  expect(event).toEqual({ type: 'block.resolved' });
  expect(patch).not.toHaveProperty('task');
  expect(blocked('PGC_FAILED', false).patch.task!.grounding!.evidence_required).toBe(false);
});
