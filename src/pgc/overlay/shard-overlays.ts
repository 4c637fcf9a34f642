import { createHash } from 'node:crypto';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { readBuilding } from './build-notice.js';
import { manifestIn, type IndexPlace, type ManifestShard } from '../plan/manifest.js';
import { openOverlay } from './open-overlay.js';
import type { OverlayItems } from './overlay-file.js';
import { OpenFiles } from '../format/container/section-file.js';
import type { OverlayName } from '../shapes.js';

type OverlaidShard = Pick<ManifestShard, 'alias' | 'overlays' | 'delta'>;

/** The overlays of one shard that have files of their own, opened on demand. */
export class ShardOverlays {
  /** Digest of the file names: other files hold other items. */
  readonly version: string;
  readonly #place: IndexPlace;
  readonly #shard: OverlaidShard;
  readonly #files: OpenFiles;
  readonly #opened = new Map<OverlayName, Promise<OverlayItems>>();

  /** `opened`: the files of the one who opens the shard. */
  constructor(place: IndexPlace, shard: OverlaidShard, opened = new OpenFiles()) {
    this.#place = place;
    this.#shard = shard;
    this.#files = opened;
    const files = Object.entries(shard.overlays).map(([name, { state, file }]) => [
      name,
      state,
      file,
      shard.delta?.overlays[name],
    ]);
    this.version = createHash('sha256')
      .update(JSON.stringify(files.sort()))
      .digest('hex')
      .slice(0, 8);
  }

  /** `missing` for an unknown overlay. */
  state(name: OverlayName): ManifestShard['overlays'][string]['state'] {
    return this.#shard.overlays[name]?.state ?? 'missing';
  }

  /**
   * Undefined when the segment holds the whole overlay. Throws OVERLAY_MISSING, OVERLAY_FAILED, OVERLAY_BUILDING (none
   * is served yet), INDEX_CORRUPT.
   */
  async open(name: OverlayName): Promise<OverlayItems | undefined> {
    const known = this.#shard.overlays[name];
    if (known?.state !== 'ready') throw await this.#gap(name);
    if (known.file === '') return undefined;
    const file = this.#opened.get(name) ?? openOverlay(this.#place, this.#shard, name, this.#files);
    this.#opened.set(name, file);
    try {
      return await file;
    } catch (error) {
      this.#opened.delete(name);
      throw await this.#loss(name, asBusError(error));
    }
  }

  async #loss(name: OverlayName, error: BusError): Promise<BusError> {
    const data = { ...error.data, overlay: name };
    if (error.code !== 'INDEX_MISSING') return new BusError(error.code, data, { cause: error });
    // A refresh has replaced the file: the host of the shard will open the newer index in a moment.
    const now = await manifestIn(this.#place, this.#place.folder).catch(() => undefined);
    const shard = now?.shards.find(({ alias }) => alias === this.#shard.alias);
    const files = (its: OverlaidShard | undefined): string =>
      JSON.stringify([its?.overlays[name]?.file, its?.delta?.overlays[name]]);
    if (files(shard) !== files(this.#shard)) return this.#error('OVERLAY_BUILDING', name, error);
    return new BusError('INDEX_CORRUPT', { ...data, detail: 'it is gone' }, { cause: error });
  }

  async #gap(name: OverlayName): Promise<BusError> {
    const building = await readBuilding(this.#place);
    if (building?.get(this.#shard.alias)?.has(name) === true)
      return this.#error('OVERLAY_BUILDING', name);
    const known = this.#shard.overlays[name];
    if (known?.state !== 'failed') return this.#error('OVERLAY_MISSING', name);
    return new BusError('OVERLAY_FAILED', {
      overlay: name,
      agent: this.#shard.alias,
      reason: known.reason,
    });
  }

  #error(
    code: 'OVERLAY_BUILDING' | 'OVERLAY_MISSING',
    overlay: OverlayName,
    cause?: unknown,
  ): BusError {
    return new BusError(code, { overlay, agent: this.#shard.alias }, { cause });
  }
}
