import { join } from 'node:path';
import type { Reading } from '../format/container/segment-file.js';
import type { IndexPlace, ManifestShard } from '../plan/manifest.js';
import { JoinedOverlay } from './joined-overlay.js';
import { OverlayFile, type OverlayItems } from './overlay-file.js';

type Delta = NonNullable<ManifestShard['delta']>;

/** The items of a ready overlay with a file of its own. Throws INDEX_CORRUPT, or INDEX_MISSING when a file is not there. */
export function openOverlay(
  place: IndexPlace,
  { overlays, delta }: Pick<ManifestShard, 'overlays' | 'delta'>,
  name: string,
  reading?: Reading,
): Promise<OverlayItems> {
  return opened(place, overlays[name]?.file ?? '', delta, delta?.overlays[name], reading);
}

/** What O7 decides on. Throws as `openOverlay`. */
export function openCandidates(
  place: IndexPlace,
  { candidates, delta }: ManifestShard,
): Promise<OverlayItems> {
  return opened(place, candidates, delta, delta?.candidates);
}

async function opened(
  { segments }: IndexPlace,
  file: string,
  delta: Delta | undefined,
  changed: string | undefined,
  reading?: Reading,
): Promise<OverlayItems> {
  const base = await OverlayFile.open(join(segments, file), reading);
  if (delta === undefined || changed === undefined) return base;
  return new JoinedOverlay([
    { file: base, hides: new Set() },
    { file: await OverlayFile.open(join(segments, changed), reading), hides: new Set(delta.hides) },
  ]);
}
