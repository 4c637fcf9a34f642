import { expect, test } from 'vitest';
import { ChurnMap } from '../../../src/base/churn-map.js';
import { defaultLimits } from '../../../src/broker/limits.js';
import { Requests } from '../../../src/broker/requests.js';
import type { OpenRequest, Session } from '../../../src/broker/session/sessions.js';

/** What requests know of a session. */
function session(agent: string): Session {
  return { agent, asked: new ChurnMap<string, OpenRequest>(), toAnswer: 0 } as unknown as Session;
}

function world() {
  const [a, b, w, v] = ['a', 'b', 'w', 'v'].map(session) as [Session, Session, Session, Session];
  const open = new Requests(defaultLimits, () => [a, b, w, v]);
  const ask = (fields: Partial<OpenRequest> = {}): OpenRequest => {
    const request = { id: 'r1', requester: a, responder: w, budgetMs: 100, expiresAtMs: 100 };
    Object.assign(request, fields);
    open.add(request);
    return request;
  };
  return { a, b, w, v, open, ask };
}

test('two agents may choose the same id, and only who was asked may answer', () => {
  const { a, b, w, v, open, ask } = world();
  ask();
  ask({ requester: b, responder: v });
  expect(open.answerable(a, 'r1', w)?.requester).toBe(a);
  expect(open.answerable(b, 'r1', w)).toBeUndefined();
  expect(open.answerable(b, 'r1', v)?.requester).toBe(b);
});

test('a request that was sent again has one responder, and the end of the earlier one does not end it', () => {
  const { a, w, v, open, ask } = world();
  const earlier = ask();
  ask({ responder: v });
  open.end(earlier);
  expect([open.size, w.toAnswer, v.toAnswer]).toEqual([1, 0, 1]);
  expect(open.answerable(a, 'r1', v)).toBeDefined();
});

test('when a session goes, what it asked is dropped and what it was asked is returned', () => {
  const { a, b, w, open, ask } = world();
  ask({ id: 'asked', requester: b, responder: w });
  ask({ id: 'orphan', requester: a, responder: b });
  expect(open.forget(b).map(({ id }) => id)).toEqual(['orphan']);
  expect([open.size, w.toAnswer, b.toAnswer]).toEqual([0, 0, 0]);
});

test('what is over ends, the rest stays open', () => {
  const { a, w, open, ask } = world();
  ask({ id: 'old', expiresAtMs: 50 });
  ask({ id: 'young', expiresAtMs: 51 });
  expect(open.expired(50).map(({ id }) => id)).toEqual(['old']);
  expect(open.answerable(a, 'young', w)).toBeDefined();
});

test('a session may ask so many at once, and all of them together so many', () => {
  const { a, b, w } = world();
  const limits = { ...defaultLimits, requestsPerSessionMax: 2, requestsMax: 3 };
  const open = new Requests(limits, () => [a, b]);
  const add = (requester: Session, id: string) =>
    open.add({ id, requester, responder: w, budgetMs: 100, expiresAtMs: 100 });
  add(a, '1');
  expect(open.isFull(a)).toBe(false);
  add(a, '2');
  expect([open.isFull(a), open.isFull(b)]).toEqual([true, false]);
  add(b, '3');
  expect(open.isFull(b)).toBe(true);
});
