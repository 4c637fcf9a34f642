import { expect, test } from 'vitest';
import { parseAddress, topicMatches, topicPrefix } from '../../../src/wire/address.js';

test('the three forms of an address are read', () => {
  expect(parseAddress('agent:drivers-net')).toEqual({ kind: 'agent', name: 'drivers-net' });
  expect(parseAddress('service:pgc.ask')).toEqual({ kind: 'service', name: 'pgc.ask' });
  expect(parseAddress('topic:presence.mm.joined')).toEqual({
    kind: 'topic',
    name: 'presence.mm.joined',
  });
});

test.each([
  '',
  'mm',
  'agent:',
  'agent:..',
  'agent:a/b',
  'agent:A',
  'agent:a.b',
  'file:/etc/passwd',
  'topic:a..b',
  `agent:${'a'.repeat(200)}`,
  'agent:a\0b',
])('%j is no address', (text) => {
  expect(() => parseAddress(text)).toThrow(
    expect.objectContaining({ code: 'INVALID_NAME' }) as Error,
  );
});

test.each([
  ['presence.mm.joined', 'presence.mm.joined', true],
  ['presence.mm.joined', 'presence.mm.joined.twice', false],
  ['presence.*.joined', 'presence.mm.joined', true],
  ['presence.*.joined', 'presence.mm.left', false],
  ['presence.*', 'presence.mm.left', false],
  ['presence.>', 'presence.mm.left', true],
  ['presence.>', 'presence', false],
  ['>', 'anything', true],
  ['task', 'tasks', false],
])('pattern %s on topic %s: %s', (pattern, topic, matches) => {
  expect(topicMatches(pattern, topic)).toBe(matches);
});

test('a pattern without wildcards filters exactly, another by its literal start', () => {
  expect(topicPrefix('task.a')).toBe('task.a\0');
  expect(topicPrefix('task.*.done')).toBe('task.');
  expect(topicPrefix('>')).toBe('');
});
