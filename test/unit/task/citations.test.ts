import { expect, test } from 'vitest';
import { verdictsOn, type CitationParts } from '../../../src/manager/citations.js';
import { citationOf } from '../../support/delegation.js';

function parts(fields: Partial<CitationParts>): CitationParts {
  return {
    trees: () => Promise.resolve([]),
    registered: () => Promise.resolve(new Set(['net'])),
    isSettling: () => true,
    ...fields,
  };
}

test('evidence of a tree that is registered and not known yet is not judged yet', async () => {
  const citations = [citationOf({ agent: 'other' }), citationOf({ agent: 'net' })];
  await expect(verdictsOn(citations, parts({}))).rejects.toMatchObject({
    code: 'AGENT_OFFLINE',
    retryable: true,
  });
});

test.each([
  ['nobody is on the way any more', { isSettling: () => false }, 'net'],
  ['nobody of that name ever registered', {}, 'other'],
  ['it names nobody', {}, ''],
])('where %s it is unverified', async (_, fields, agent) => {
  const verdicts = await verdictsOn([citationOf({ agent })], parts(fields));
  expect(verdicts).toMatchObject([{ status: 'unverified' }]);
});
