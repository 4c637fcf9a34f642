import { expect, test } from 'vitest';
import { defaultLimits } from '../../../src/broker/limits.js';
import { Requests, type OpenRequest } from '../../../src/broker/requests.js';

const request = (fields: Partial<OpenRequest>): OpenRequest => ({
  id: 'r1',
  requester: 'peer-a',
  requesterAgent: 'a',
  responder: 'peer-w',
  budgetMs: 100,
  expiresAtMs: 100,
  ...fields,
});
const requests = (): Requests => new Requests(defaultLimits);

test('two agents may choose the same id, and only who was asked may answer', () => {
  const open = requests();
  open.add(request({}));
  open.add(request({ requesterAgent: 'b', requester: 'peer-b', responder: 'peer-v' }));
  expect(open.answerable('a', 'r1', 'peer-w')?.requester).toBe('peer-a');
  expect(open.answerable('b', 'r1', 'peer-w')).toBeUndefined();
  expect(open.answerable('b', 'r1', 'peer-v')?.requester).toBe('peer-b');
});

test('a request that was sent again has one responder, and the end of the earlier one does not end it', () => {
  const open = requests();
  const earlier = request({});
  open.add(earlier);
  open.add(request({ responder: 'peer-v' }));
  open.end(earlier);
  expect([open.size, open.load('peer-w'), open.load('peer-v')]).toEqual([1, 0, 1]);
  expect(open.answerable('a', 'r1', 'peer-v')).toBeDefined();
});

test('when a peer goes, what it asked is dropped and what it was asked is returned', () => {
  const open = requests();
  open.add(request({ id: 'asked', requester: 'peer-x', requesterAgent: 'x' }));
  open.add(request({ id: 'orphan', responder: 'peer-x' }));
  expect(open.forget('peer-x').map(({ id }) => id)).toEqual(['orphan']);
  expect(open.size).toBe(0);
});

test('what is over ends, the rest stays open', () => {
  const open = requests();
  open.add(request({ id: 'old', expiresAtMs: 50 }));
  open.add(request({ id: 'young', expiresAtMs: 51 }));
  expect(open.expired(50).map(({ id }) => id)).toEqual(['old']);
  expect(open.of('a', 'young')).toBeDefined();
});
