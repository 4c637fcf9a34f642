import { expect, test } from 'vitest';
import { Permissions } from '../../../src/broker/session/permissions.js';

const permissions = new Permissions();

test('only the manager offers what the product itself answers for', () => {
  for (const service of ['lattice', 'lattice.query', 'manager.plan', 'task']) {
    expect(permissions.of('manager').mayOffer(service), service).toBe(true);
    for (const role of ['pgc', 'client', 'tester', 'operator', 'lattice'])
      expect(permissions.of(role).mayOffer(service), `${role} ${service}`).toBe(false);
  }
  for (const service of ['broker', 'bus.status', 'sys.log'])
    expect(permissions.of('manager').mayOffer(service), service).toBe(false);
});

test('any agent offers what is not reserved, except a run of the command line', () => {
  expect(permissions.of('tester').mayOffer('test.echo')).toBe(true);
  expect(permissions.of('tester').mayOffer('lattices')).toBe(true);
  expect(permissions.of('client').mayOffer('test.echo')).toBe(false);
});

test('nobody speaks for the broker or on the topics of another agent', () => {
  for (const role of ['operator', 'manager', 'tester', 'client']) {
    const rights = permissions.of(role);
    for (const topic of [
      'presence.mm.lost',
      'sys.alarm',
      'agent.other.state',
      'agent.m',
      'agent.mm2.x',
    ])
      expect(rights.mayPublish('mm', topic), `${role} ${topic}`).toBe(false);
  }
});

test('an ordinary role publishes below its own name only, the manager wherever it is not reserved', () => {
  expect(permissions.of('tester').mayPublish('mm', 'agent.mm.state')).toBe(true);
  expect(permissions.of('tester').mayPublish('mm', 'task.1')).toBe(false);
  expect(permissions.of('manager').mayPublish('manager', 'task.1')).toBe(true);
  expect(permissions.of('client').mayPublish('cli-1', 'agent.cli-1.x')).toBe(false);
});

test('the manager decides about messages, the operator also about the store, others about nothing', () => {
  const actions = ['dead.requeue', 'dead.purge', 'inbox.purge', 'inbox.read', 'backup', 'compact'];
  const of = (role: string): boolean[] =>
    actions.map((action) => permissions.of(role).mayAdminister(action));
  expect(of('operator')).toEqual([true, true, true, true, true, true]);
  expect(of('manager')).toEqual([true, true, true, true, false, false]);
  for (const role of ['client', 'pgc', 'tester', 'Operator', '*', '__proto__'])
    expect(of(role), role).toEqual([false, false, false, false, false, false]);
});

test('by default everybody may write to everybody', () => {
  for (const role of ['operator', 'manager', 'client', 'pgc', 'never-heard-of']) {
    expect(permissions.of(role).maySend({ kind: 'agent', name: 'mm' }, 'x')).toBe(true);
  }
});

test('a role that is restricted sends what a rule allows, by name, by service and by role', () => {
  const rights = new Permissions({
    executor: {
      send: [
        { to: 'agent:mm', types: ['pgc.ask'] },
        { to: 'service:pgc.*', types: ['pgc.*', 'echo'] },
        { to: 'role:manager', types: ['*'] },
      ],
    },
  }).of('executor');
  const cases: [Parameters<typeof rights.maySend>[0], string, boolean][] = [
    [{ kind: 'agent', name: 'mm' }, 'pgc.ask', true],
    [{ kind: 'agent', name: 'mm' }, 'pgc.hop', false],
    [{ kind: 'agent', name: 'mm2' }, 'pgc.ask', false],
    [{ kind: 'service', name: 'mm' }, 'pgc.ask', false],
    [{ kind: 'service', name: 'pgc.search' }, 'pgc.hop', true],
    [{ kind: 'service', name: 'pgc.search' }, 'echo', true],
    [{ kind: 'service', name: 'pgcx' }, 'echo', false],
    [{ kind: 'agent', name: 'boss', role: 'manager' }, 'anything', true],
    [{ kind: 'agent', name: 'boss' }, 'anything', false],
    [{ kind: 'agent', name: 'manager', role: 'pgc' }, 'anything', false],
  ];
  for (const [to, type, may] of cases)
    expect(rights.maySend(to, type), `${JSON.stringify(to)} ${type}`).toBe(may);
});

test('an override replaces the fields it names and leaves the others', () => {
  const changed = new Permissions({
    manager: { framesPerS: 7 },
    '*': { offer: [], framesPerS: 9 },
    scout: { publish: ['scout.*'] },
  });
  expect(changed.of('manager')).toMatchObject({ framesPerS: 7 });
  expect(changed.of('manager').mayOffer('lattice')).toBe(true);
  expect(changed.of('tester').mayOffer('test.echo')).toBe(false);
  // A role of its own builds on the rule for all others as it was changed.
  expect(changed.of('scout')).toMatchObject({ framesPerS: 9 });
  expect(changed.of('scout').mayOffer('test.echo')).toBe(false);
  expect(changed.of('scout').mayPublish('a', 'scout.found')).toBe(true);
});

test('no override hands out what is the broker’s own', () => {
  const rights = new Permissions({
    '*': { publish: ['*', 'presence.*', 'sys.*'], offer: ['*'] },
  }).of('x');
  expect(rights.mayPublish('mm', 'presence.mm.lost')).toBe(false);
  expect(rights.mayPublish('mm', 'agent.other.state')).toBe(false);
  expect(rights.mayOffer('lattice')).toBe(false);
});

test('only the manager hands out work, and takes it back', () => {
  const executor = { kind: 'agent', name: 'executor-1', role: 'executor' } as const;
  for (const type of ['task.assign', 'task.withdraw']) {
    expect(permissions.of('manager').maySend(executor, type)).toBe(true);
    for (const role of ['operator', 'client', 'executor', 'pgc', 'tester'])
      expect(permissions.of(role).maySend(executor, type), `${role} ${type}`).toBe(false);
  }
  expect(permissions.of('tester').maySend(executor, 'text')).toBe(true);
  const named = new Permissions({ boss: { send: [{ to: 'role:executor', types: ['task.*'] }] } });
  expect(named.of('boss').maySend(executor, 'task.assign')).toBe(true);
  expect(named.of('boss').maySend({ ...executor, role: 'pgc' }, 'task.assign')).toBe(false);
});

test('which agents live without a process is data', () => {
  const changed = new Permissions({ '*': { framesPerS: 9 }, guest: { isHosted: true } });
  const hosted = ['task', 'guest', 'manager', 'executor', 'client'].filter(
    (role) => changed.of(role).isHosted,
  );
  expect(hosted).toEqual(['task', 'guest']);
  expect(changed.of('task')).toMatchObject({ framesPerS: 9 });
});
