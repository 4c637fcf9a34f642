import { expect, test } from 'vitest';
import { Scope } from '../../../src/base/scope.js';

test('closes in reverse order, once, and all of it even when one fails', async () => {
  const closed: string[] = [];
  const scope = new Scope();
  scope.defer(() => void closed.push('store'));
  scope.defer(() => {
    closed.push('broker');
    throw new Error('broker failed');
  });
  scope.defer(() => void closed.push('socket'));
  await expect(scope[Symbol.asyncDispose]()).rejects.toThrow('broker failed');
  expect(closed).toEqual(['socket', 'broker', 'store']);
});

test('closes what was opened when a later opening fails', async () => {
  const closed: string[] = [];
  const open = async (): Promise<void> => {
    await using scope = new Scope();
    scope.defer(() => void closed.push('store'));
    throw new Error('no socket');
  };
  await expect(open()).rejects.toThrow('no socket');
  expect(closed).toEqual(['store']);
});
