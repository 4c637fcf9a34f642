import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { systemClock } from '../src/base/clock.js';
import { Scope } from '../src/base/scope.js';
import { noTrace } from '../src/base/trace.js';
import { loadConfig, type Config } from '../src/config/config.js';
import { BusError } from '../src/errors/bus-error.js';
import { findBroker } from '../src/nats/find.js';
import type { LogStore } from '../src/nats/log-store.js';
import { Seat } from '../src/nats/seat.js';
import { officeAccess } from '../src/remote/identity.js';
import { busLayout } from '../src/store/layouts.js';
import { syncFolder } from '../src/store/level-folder.js';
import { LevelStore } from '../src/store/level-store.js';
import {
  compareKept,
  copyKept,
  keptIn,
  markOf,
  movedError,
  setMark,
  type Kept,
} from '../src/store/move.js';
import type { Store } from '../src/store/port.js';
import { lockPresent, swapStore } from '../src/store/restore.js';
import { isNetwork } from '../src/transport/address.js';
import { isListening } from '../src/transport/probe.js';
import { asOwner, openPresentStore, storeFolder } from './bus-store.js';

/** A lease that was left behind is free earlier; one that is renewed never is. */
const leaseWaitMs = 20_000;
const storeOptions = { layout: busLayout, random: Math.random };

export interface Moved {
  kept: Kept;
  /** What the target kept before. */
  replaced?: Kept;
  /** Where the store of this machine is now that was moved, or replaced. */
  aside?: string;
}

interface Asked {
  config: Config;
  /** Of the bus on NATS. */
  address: string;
  /** A target that keeps something is replaced, and a source taken that was moved before. */
  isForced: boolean;
}

/**
 * Moves what the broker of this machine keeps to a bus on NATS. Killed on the way it can be run again: until the end no broker
 * serves the target. Throws BROKER_RUNNING, STORE_*, MOVE_DIFFERS, KEYS_MISSING, KEY_FILE_INVALID, NATS_*.
 */
export async function moveToNats({ config, address, isForced }: Asked): Promise<Moved> {
  const folder = storeFolder(config);
  await assertNoneListens(config);
  await using scope = new Scope();
  const source = scope.own(await openPresentStore(config));
  const lead = await openSeat(scope, config, address);
  const replaced = await lead(async (target, signal) => {
    const isUnfinished = (await markOf(target))?.kind === 'in';
    await assertMovable(source, folder, { isForced: isForced || isUnfinished });
    const { kept } = await keptIn(target);
    if (kept.entries > 0 && !isForced && !isUnfinished)
      throw new BusError('STORE_NOT_EMPTY', { path: address });
    await setMark(target, { kind: 'in' });
    await copyKept(source, target, { clock: systemClock, signal });
    return kept.entries === 0 || isUnfinished ? undefined : kept;
  });
  // Led anew it reads from the servers what they have.
  const kept = await lead(async (target) => {
    const its = await compareKept(source, target, address);
    await setMark(source, { kind: 'out', where: address });
    await setMark(target, undefined);
    return its;
  });
  await source[Symbol.asyncDispose]();
  // The way back finds the place free.
  const aside = `${folder}.moved-${stamp()}`;
  await rename(folder, aside);
  return { kept, ...(replaced && { replaced }), aside };
}

/**
 * The way back. The store on this machine takes its place when it is whole; from then on no broker serves what is left on NATS.
 * Throws as `moveToNats`.
 */
export async function moveFromNats({ config, address, isForced }: Asked): Promise<Moved> {
  const folder = storeFolder(config);
  await assertNoneListens(config);
  await using scope = new Scope();
  const present = await asOwner(config, lockPresent(folder, isForced));
  scope.defer(() => present.lock?.close());
  const lead = await openSeat(scope, config, address);
  const fresh = `${folder}.moving`;
  return await lead(async (source, signal) => {
    await assertMovable(source, address, { isForced: isForced || existsSync(fresh) });
    await rm(fresh, { recursive: true, force: true });
    await withLevel(fresh, (target) => copyKept(source, target, { clock: systemClock, signal }));
    const kept = await withLevel(fresh, (target) => compareKept(source, target, folder));
    await syncFolder(fresh);
    await setMark(source, { kind: 'out', where: `${folder} of ${hostname()}` });
    const aside = present.isWorthKeeping ? `${folder}.before-move-${stamp()}` : undefined;
    await swapStore(folder, fresh, aside);
    return { kept, ...(aside !== undefined && { aside }) };
  });
}

/** A broker whose disk is full has let go of its lock, and listens on. */
async function assertNoneListens({ home }: Config): Promise<void> {
  const { bus } = loadConfig({}, { home });
  if (!isNetwork(bus) && (await isListening(bus)))
    throw new BusError('BROKER_RUNNING', { path: bus });
}

async function assertMovable(
  source: Store,
  path: string,
  { isForced }: { isForced: boolean },
): Promise<void> {
  const mark = await markOf(source);
  if (mark?.kind === 'in' || (mark !== undefined && !isForced)) throw movedError(path, mark);
}

/** `signal`: another leads. */
type Lead = <T>(work: (store: LogStore, signal: AbortSignal) => Promise<T>) => Promise<T>;

/** Keeps others from leading; what it returns runs work with a store that leads, each time with a replica that begins empty. */
async function openSeat(scope: Scope, config: Config, address: string): Promise<Lead> {
  const access = officeAccess({ ...config, bus: address }, 'broker');
  const seat = scope.own(
    await Seat.open({ access, name: 'bus', clock: systemClock, trace: noTrace }),
  );
  const word = await findBroker(seat.connection, access.bus);
  const isServed = typeof word === 'object' && word.isServing;
  const lease = isServed ? undefined : await seat.takeLease(AbortSignal.timeout(leaseWaitMs));
  if (lease === undefined) throw new BusError('BROKER_RUNNING', { path: address });
  scope.own(lease);
  const replica = `${storeFolder(config)}.replica-of-move`;
  const clear = (): Promise<void> => rm(replica, { recursive: true, force: true });
  return async (work) => {
    await clear();
    try {
      await using store = await seat.openStore({ ...storeOptions, folder: replica });
      const ending = new AbortController();
      await store.lead((why) => ending.abort(why));
      return await work(store, ending.signal);
    } finally {
      await clear();
    }
  };
}

async function withLevel<T>(folder: string, work: (store: LevelStore) => Promise<T>): Promise<T> {
  await using store = await LevelStore.open(folder, { ...storeOptions, clock: systemClock });
  return await work(store);
}

function stamp(): string {
  return new Date(systemClock.nowMs()).toISOString().replaceAll(/[:.]/g, '-');
}
