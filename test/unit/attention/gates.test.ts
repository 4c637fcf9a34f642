import { describe, expect, test } from 'vitest';
import {
  covers,
  granted,
  isMemorable,
  leaveFor,
  nextGrant,
  opened,
  patternKey,
} from '../../../src/attention/gates.js';
import {
  attentionLimits,
  type ActionDigest,
  type Classification,
  type Finding,
  type Gate,
  type Grant,
  type Pattern,
} from '../../../src/attention/shapes.js';

const [one, other] = ['1'.repeat(64), '2'.repeat(64)];
const digest = (files: Record<string, string> = {}, action = one): ActionDigest => ({
  action,
  files,
});
const finding = (file: string): Finding => ({
  ...{ signal: 'Irreversibility', severity: 'Gate', evidence: '', action_description: '' },
  ...{ rule: 'test', file },
});
const seen = (
  files: Record<string, string>,
  found: string[],
  action = one,
): Pick<Classification, 'digest' | 'findings'> => ({
  digest: digest(files, action),
  findings: found.map(finding),
});

describe('leave for one action covers another look at it', () => {
  test.each<[string, ActionDigest, ReturnType<typeof seen>, boolean]>([
    ['the same', digest({ 'a.sh': one }), seen({ 'a.sh': one }, ['a.sh']), true],
    ['another action', digest(), seen({}, [], other), false],
    ['a script that was changed', digest({ 'a.sh': one }), seen({ 'a.sh': other }, []), false],
    ['a script that is gone', digest({ 'a.sh': one }), seen({}, []), false],
    ['a harmless script besides', digest({ 'a.sh': one }), seen({ 'a.sh': one, b: one }, []), true],
    [
      'a risky script besides',
      digest({ 'a.sh': one }),
      seen({ 'a.sh': one, b: one }, ['b']),
      false,
    ],
    ['the arguments alone, as they were', digest(), seen({}, ['']), true],
    ...['constructor', 'toString', '__proto__'].map(
      (name): [string, ActionDigest, ReturnType<typeof seen>, boolean] => [
        `a risky script that is called ${name}`,
        digest(),
        seen({ [name]: one }, [name]),
        false,
      ],
    ),
  ])('%s', (_, leave, now, isCovered) => {
    expect(covers(leave, now)).toBe(isCovered);
  });
});

const given = (n: number): Parameters<typeof granted>[1] => ({
  ...{ task: 't', digest: digest(), gate: 'g', by: 'p', nowMs: 1, n },
});

test('leave that was used is none', () => {
  const grants = granted([], given(1));
  expect(leaveFor(grants, seen({}, []))?.id).toBe('grant-t-1');
  const used = grants.map((each): Grant => ({ ...each, used_ms: 1, used_attempt: 1 }));
  expect(leaveFor(used, seen({}, []))).toBeUndefined();
});

test('of many grants the last are kept, and none is named twice', () => {
  let grants: Grant[] = [];
  const many = attentionLimits.grants + 3;
  for (let count = 0; count < many; count += 1) grants = granted(grants, given(nextGrant(grants)));
  expect(grants).toHaveLength(attentionLimits.grants);
  expect(grants.at(-1)?.id).toBe(`grant-t-${many}`);
  expect(new Set(grants.map(({ id }) => id)).size).toBe(grants.length);
});

test('a task asks so often, and no more', () => {
  const asked = {
    ...{ task: 't', seenBy: 'm', session: 's', nowMs: 1, expiresMs: 10 },
    classification: seen({}, ['']) as Classification,
  };
  let gates: Gate[] = [];
  for (let count = 0; count < attentionLimits.gates; count += 1) gates = opened(gates, asked) ?? [];
  expect(gates).toHaveLength(attentionLimits.gates);
  expect(opened(gates, asked)).toBeUndefined();
});

test('a pattern is the same in all four, and remembered in a known place, never of an injection', () => {
  const base: Pattern = {
    ...{ tool: 'git push', target: 'main', environment: 'dev' },
    signals: ['Irreversibility', 'ExternalMutation'],
  };
  const turned: Pattern = { ...base, signals: ['ExternalMutation', 'Irreversibility'] };
  expect(patternKey(turned)).toBe(patternKey(base));
  const others: Partial<Pattern>[] = [
    ...[{ tool: 'git' }, { target: 'next' }, { environment: 'production' }],
    { signals: ['Irreversibility'] },
  ];
  for (const each of others) expect(patternKey({ ...base, ...each })).not.toBe(patternKey(base));
  const of = (pattern: Pattern): Classification =>
    ({ is_cacheable: true, pattern }) as Classification;
  expect(isMemorable(of(base))).toBe(true);
  expect(isMemorable(of({ ...base, environment: 'unknown' }))).toBe(false);
  expect(isMemorable(of({ ...base, signals: ['PromptInjection'] }))).toBe(false);
});
