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

/** What is served without it. */
export function failedState(
  overlay: OverlayName,
  reason: string,
): ManifestShard['overlays'][string] {
  return { ...stateOf(overlay, 0, ''), state: 'failed', reason };
}

/** Of what one overlay fails; a run that was interrupted is none of them, and throws on. */
export function reasonOf(error: unknown): string {
  const { code, message } = asBusError(error);
  if (code === 'INTERRUPTED') throw error;
  return `${code}: ${message}`;
}
