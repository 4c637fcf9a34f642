import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BusError } from '../../src/errors/bus-error.js';
import { criticMessages, criticService } from '../../src/critic/review/messages.js';
import { recordOf } from '../support/bus.js';
import { critiqueOf, findingOf } from '../support/critiques.js';
import { scriptedCritic } from '../support/scripted-critic.js';
import { TaskStage } from '../support/task-stage.js';

const runsCommands = {
  capabilities: ['delegation:2.0', 'attend:1.0', 'runner:answer', 'runner:command', 'slots:4'],
};

let stage: TaskStage;
beforeEach(async () => {
  stage = new TaskStage({}, {}, { reviewFrom: 'C3' });
  await stage.begin();
});
afterEach(() => stage.end());

/** A worker whose nth attempt says this, and what it was told. */
async function worker(results: string[]): Promise<string[][]> {
  const told: string[][] = [];
  await stage.worker(
    'worker',
    ({ task }) => {
      told.push(task.feedback);
      return { result: results[told.length - 1] ?? results.at(-1) ?? '' };
    },
    runsCommands,
  );
  return told;
}

describe('a critical task', () => {
  test('is revised by what the critic found, and completed when it passes', async () => {
    const told = await worker(['first', 'second']);
    const findings = [
      findingOf('minor-one', { severity: 'minor' }),
      findingOf('worst', { severity: 'critical' }),
    ];
    const critic = await scriptedCritic(stage.bus, (_, nth) =>
      nth === 1 ? { score: 0.78, findings } : { score: 0.94 },
    );
    const { id } = await stage.delegate({
      id: 'sound',
      criticality: 'C3',
      limits: { attempts_max: 1 },
    });
    const done = await stage.until(id, ['completed', 'failed', 'deciding']);
    expect(done.state).toBe('completed');
    expect(done.attempt).toBe(2);
    expect(done.iterations).toMatchObject([
      { iteration: 2, attempt: 1, score: 0.78, state: 'revising', open: ['worst', 'minor-one'] },
      { iteration: 3, attempt: 2, score: 0.94, state: 'accepted', open: [] },
    ]);
    expect(told[0]).toEqual([]);
    expect(told[1]?.slice(1)).toEqual([
      'critique: critical worst: what worst says put worst right',
      'critique: minor minor-one: what minor-one says put minor-one right',
    ]);
    expect(critic.requests.map((each) => each.id)).toEqual([`${id}-c2-a1`, `${id}-c3-a2`]);
    expect(critic.requests[1]).toMatchObject({ iteration: 3, previous_score: 0.78 });
    expect(done.error).toBeNull();
  });

  test('waits for a ratification between 0.85 and the threshold', async () => {
    await worker(['first', 'second']);
    await scriptedCritic(stage.bus, (_, nth) => ({ score: nth === 1 ? 0.78 : 0.86 }));
    const { id } = await stage.delegate({ criticality: 'C3' });
    const waiting = await stage.until(id, ['completed', 'failed', 'deciding']);
    expect(waiting).toMatchObject({ state: 'deciding', error: { code: 'CRITIQUE_CONDITIONAL' } });
    expect(waiting.asks).toContain('scores 0.78, 0.86 of 0.92 (+0.08)');
    const done = await stage.decide(id, 'accept');
    expect(done).toMatchObject({ state: 'completed', error: null });
    expect(done.iterations.at(-1)).toMatchObject({ judged: 'accept', judged_by: 'cli-decides' });
  });

  test('is failed by a person who refuses it, with what the critic said', async () => {
    await worker(['first', 'second']);
    await scriptedCritic(stage.bus, () => ({ score: 0.4 }));
    const { id } = await stage.delegate({ criticality: 'C3' });
    expect((await stage.until(id, ['deciding'])).asks).toContain('too low even for a ratification');
    const done = await stage.decide(id, 'refuse');
    expect(done).toMatchObject({ state: 'failed', error: { code: 'CRITIQUE_REFUSED' } });
  });

  test('goes round in circles no longer than a person wants', async () => {
    const told = await worker(['one', 'two', 'one']);
    await scriptedCritic(stage.bus, (_, nth) => ({ score: 0.6 + nth / 20 }));
    const { id } = await stage.delegate({ criticality: 'C3' });
    const { revision } = await stage.until(id, ['deciding']);
    await stage.decide(id, 'revise', 'mind the edges');
    await expect.poll(() => told.length).toBe(3);
    const again = await stage.until(id, ['deciding', 'completed', 'failed']);
    expect(again.revision).toBeGreaterThan(revision);
    expect(again.iterations.map(({ reason }) => reason)).toEqual([
      ...['BELOW', 'BELOW_GATE', 'OSCILLATION'],
    ]);
    expect(told[2]).toContain('mind the edges');
  });

  test('tells a creator that disagrees from one that cannot', async () => {
    const told = await worker(['first', 'second\ndisputed: claim-1, the line says so']);
    await scriptedCritic(stage.bus, () => ({ score: 0.8, findings: [findingOf('claim-1')] }));
    const { id } = await stage.delegate({ criticality: 'C3' });
    const asked = await stage.until(id, ['deciding', 'completed', 'failed']);
    expect(asked.iterations.at(-1)).toMatchObject({ reason: 'DISPUTE', disputed: ['claim-1'] });
    expect(told).toHaveLength(2);
  });

  test('whose action has effects is not run again unasked', async () => {
    const told = await worker(['done']);
    await scriptedCritic(stage.bus, () => ({ score: 0.8 }));
    const task = { criticality: 'C3', runner: 'command', action: { argv: ['true'] } };
    const { id } = await stage.delegate(task);
    const asked = await stage.until(id, ['deciding', 'completed', 'failed']);
    expect(asked.state).toBe('deciding');
    expect(asked.asks).toContain('it would be done again, and what it did has effects');
    expect(told).toHaveLength(1);
  });

  test('is not accepted because the critic refuses to look', async () => {
    await worker(['first']);
    await scriptedCritic(stage.bus, () =>
      Promise.reject(new BusError('REVIEW_INVALID', { detail: 'as the test wants' })),
    );
    const { id } = await stage.delegate({ criticality: 'C3' });
    const asked = await stage.until(id, ['deciding', 'completed', 'failed']);
    expect(asked).toMatchObject({ state: 'deciding', error: { code: 'CRITIC_UNAVAILABLE' } });
    expect(asked.iterations).toEqual([]);
  });

  test('gets the same review of a manager that was restarted meanwhile', async () => {
    await worker(['first', 'second']);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const critic = await scriptedCritic(stage.bus, (async (_: unknown, nth: number) => {
      if (nth === 1) await held;
      return { score: 0.95 };
    }) as never);
    const { id } = await stage.delegate({ criticality: 'C3' });
    await expect.poll(() => critic.requests.length).toBe(1);
    await stage.stopManager();
    release();
    await stage.startManager();
    const done = await stage.until(id, ['deciding', 'completed', 'failed']);
    expect(done.state).toBe('completed');
    const [first, second, ...rest] = critic.requests.map((each) => each.id);
    expect([first, second]).toEqual([`${id}-c2-a1`, `${id}-c2-a1`]);
    expect(rest).toEqual([`${id}-c3-a2`]);
  });
});

describe('a critique under way', () => {
  /** A critic that answers when it is let, and hears whether anybody still wants that. */
  async function slow() {
    const client = await stage.bus.client('critic', { role: 'critic' });
    const asked: { id: string; signal: AbortSignal }[] = [];
    const ratified: unknown[] = [];
    const { critique, ratify } = criticMessages;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    client.serve({
      [critique.type]: async ({ body, signal }) => {
        const { id, artifact, iteration } = critique.request.decode(body);
        asked.push({ id, signal });
        await held;
        const criticality = 'C3' as const;
        const change = { artifact: artifact.path, iteration, criticality, digest: id };
        return critique.answer.encode(critiqueOf(id, 0.87, change));
      },
      [ratify.type]: ({ body }) => {
        ratified.push(ratify.request.decode(body));
        throw new BusError('RATIFY_STATE', { artifact: '', state: '' });
      },
    });
    await client.register(recordOf('critic'));
    await client.offer([criticService]);
    return { asked, ratified, release };
  }

  test('goes on while its manager is stopped and started', async () => {
    await worker(['first', 'second']);
    const { asked, release } = await slow();
    const { id } = await stage.delegate({ criticality: 'C3' });
    await expect.poll(() => asked.length).toBe(1);
    await stage.stopManager();
    await stage.startManager();
    await expect.poll(() => asked.length).toBe(2);
    expect(asked[0]?.signal.aborted).toBe(false);
    expect(asked[1]?.id).toBe(asked[0]?.id);
    release();
    expect((await stage.until(id, ['deciding'])).iterations).toHaveLength(2);
  });

  test('ends with its task', async () => {
    await worker(['first']);
    const { asked } = await slow();
    const { id } = await stage.delegate({ criticality: 'C3' });
    await expect.poll(() => asked.length).toBe(1);
    await stage.change(id, 'cancel');
    await expect.poll(() => asked[0]?.signal.aborted).toBe(true);
    expect((await stage.until(id, ['cancelled'])).iterations).toEqual([]);
  });

  test('takes no time of its task, and what a person says of it is told to the critic', async () => {
    await worker(['first', 'second']);
    const { ratified, release } = await slow();
    release();
    const { id } = await stage.delegate({ criticality: 'C3' });
    await stage.until(id, ['deciding']);
    await stage.decide(id, 'refuse', 'not good');
    await expect
      .poll(() => ratified)
      .toEqual([
        {
          ...{ artifact: `task/${id}`, critique: `${id}-c3-a2` },
          ...{ judgement: 'refuse', text: 'not good', by: 'cli-decides' },
        },
      ]);
    expect((await stage.until(id, ['failed'])).error?.code).toBe('CRITIQUE_REFUSED');
  });

  test('is asked about criteria in words, which nobody else reads', async () => {
    await worker(['first']);
    const { asked } = await slow();
    await stage.delegate({ criticality: 'C3', acceptance_criteria: [{ text: 'it is polite' }] });
    await expect.poll(() => asked.length).toBe(1);
  });
});

describe('any other task', () => {
  test('has a critic where it asks for one, and none where it does not', async () => {
    await worker(['first', 'second']);
    const critic = await scriptedCritic(stage.bus, () => ({ score: 0.95 }));
    const plain = await stage.delegate({ criticality: 'C2' });
    expect((await stage.until(plain.id, ['completed'])).iterations).toEqual([]);
    expect(critic.requests).toHaveLength(0);
    const asking = await stage.delegate({ criticality: 'C2', critique: true });
    expect((await stage.until(asking.id, ['completed'])).iterations).toHaveLength(2);
  });

  test('cannot go without where the policy wants one', async () => {
    await worker(['first', 'second']);
    await scriptedCritic(stage.bus, () => ({ score: 0.95 }));
    const { id } = await stage.delegate({ criticality: 'C3', critique: false });
    expect((await stage.until(id, ['completed'])).iterations).toHaveLength(2);
  });

  test('goes on with a note where the critic refuses to look', async () => {
    await worker(['first']);
    await scriptedCritic(stage.bus, () =>
      Promise.reject(new BusError('REVIEW_INVALID', { detail: 'as the test wants' })),
    );
    const { id } = await stage.delegate({ criticality: 'C2', critique: true });
    const done = await stage.until(id, ['deciding', 'completed', 'failed']);
    expect(done).toMatchObject({ state: 'completed', error: null });
    expect(done.notes.map(({ text }) => text).join('\n')).toContain('the critic: not reviewed');
  });

  test('of C1 is told what the critic says, and not held up by it', async () => {
    await worker(['first']);
    await scriptedCritic(stage.bus, () => ({ score: 0.3 }));
    const { id } = await stage.delegate({ criticality: 'C1', critique: true });
    const done = await stage.until(id, ['deciding', 'completed', 'failed']);
    expect(done.iterations).toMatchObject([{ score: 0.3, state: 'reported' }]);
    expect(done.state).toBe('completed');
  });
});
