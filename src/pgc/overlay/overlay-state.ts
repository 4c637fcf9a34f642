import { asBusError } from '../../errors/bus-error.js';
import type { ManifestShard } from '../plan/manifest.js';
import type { OverlayName } from '../shapes.js';
import { generators } from './generators.js';
import type { OverlayInfo } from './overlay-file.js';

export function stateOf(
  overlay: OverlayName,
  items: number,
  file: string,
): ManifestShard['overlays'][string] {
  const { name: generator, version } = generators[overlay];
  return { state: 'ready', generator, version, items, reason: '', file };
}

/** The shard with another state of one overlay. */
export function withOverlay(
  shard: ManifestShard,
  name: OverlayName,
  state: ManifestShard['overlays'][string],
): ManifestShard {
  return {
    ...shard,
    items: { ...shard.items, [name]: state.items },
    overlays: { ...shard.overlays, [name]: state },
  };
}

/** The head of an overlay file. */
export function infoOf(overlay: OverlayName, alias: string): Omit<OverlayInfo, 'rules'> {
  const { name: generator, version } = generators[overlay];
  return { overlay, alias, generator, version };
}

/** The overlay is missing; everything else is served. */
export function failedState(
  overlay: OverlayName,
  reason: string,
): ManifestShard['overlays'][string] {
  return { ...stateOf(overlay, 0, ''), state: 'failed', reason };
}

/** The reason of a failed overlay. An interrupted run is no failure of an overlay: it is thrown again. */
export function reasonOf(error: unknown): string {
  const { code, message } = asBusError(error);
  if (code === 'INTERRUPTED') throw error;
  return `${code}: ${message}`;
}
