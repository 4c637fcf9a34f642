import { asBusError } from '../../errors/bus-error.js';
import type { ManifestShard } from '../plan/manifest.js';
import type { OverlayName } from '../shapes.js';
import { generators } from './generators.js';

export function stateOf(
  overlay: OverlayName,
  items: number,
  file: string,
): ManifestShard['overlays'][string] {
  const { name: generator, version } = generators[overlay];
  return { state: 'ready', generator, version, items, reason: '', file };
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
