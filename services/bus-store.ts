import { existsSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../src/base/clock.js';
import type { Config } from '../src/config/config.js';
import { BusError } from '../src/errors/bus-error.js';
import { busLayout } from '../src/store/layouts.js';
import { LevelStore } from '../src/store/level-store.js';

/** Where the broker keeps what must survive it. */
export function storeFolder(config: Config): string {
  return path.join(config.home, 'bus', 'store');
}

/** Throws BROKER_RUNNING, STORE_SCHEMA, STORE_UNAVAILABLE. */
export function openStore(config: Config): Promise<LevelStore> {
  const options = { layout: busLayout, clock: systemClock, random: Math.random };
  return asOwner(config, LevelStore.open(storeFolder(config), options));
}

/** The same, and it must be there. */
export function openPresentStore(config: Config): Promise<LevelStore> {
  const folder = storeFolder(config);
  if (existsSync(folder)) return openStore(config);
  throw new BusError('STORE_UNAVAILABLE', { path: folder, detail: 'there is none' });
}

/** The owner of the folder is a broker, or stands in for one. */
export async function asOwner<T>(config: Config, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof BusError && error.code === 'STORE_LOCKED')
      throw new BusError('BROKER_RUNNING', { path: storeFolder(config) }, { cause: error });
    throw error;
  }
}
