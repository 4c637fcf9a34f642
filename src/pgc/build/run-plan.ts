import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { BusError } from '../../errors/bus-error.js';
import { isBelow } from '../source/confined-reader.js';
import { linesOf, type PlannedShard } from '../plan/planned-shards.js';
import { membersOf } from './shard-build.js';
import type { FileRow } from '../format/shard-index.js';
import { planShards, validRequest, type ShardPlan, type ShardRequest } from '../plan/shard-plan.js';
import type { SourceFile } from '../source/source-tree.js';

/** The plan of one run: the requested one, or else that of the previous run. */
export class RunPlan {
  readonly #given: ShardRequest | undefined;
  /** The shards of an explicit request. */
  readonly #asked: readonly PlannedShard[] | undefined;

  private constructor(given: ShardRequest | undefined) {
    this.#given = given;
    this.#asked = typeof given === 'object' && 'shards' in given ? given.shards : undefined;
  }

  /** Throws SHARD_PLAN_INVALID, PATH_OUTSIDE_ROOT. */
  static async of(given: ShardRequest | undefined, root: string): Promise<RunPlan> {
    const plan = new RunPlan(given && validRequest(given));
    if (plan.#asked !== undefined) await checkInside(plan.#asked, root);
    return plan;
  }

  /** Shards of an explicit plan, outside of which files are left out; undefined: nothing is left out. */
  explicit(kept: ShardPlan | undefined): readonly PlannedShard[] | undefined {
    if (this.#given !== undefined) return this.#asked;
    return kept?.mode === 'explicit' ? kept.shards : undefined;
  }

  /** Throws SHARD_PLAN_INVALID for a requested path without files. */
  check(files: readonly SourceFile[]): void {
    if (this.#asked !== undefined) checkCovered(this.#asked, files);
  }

  /** Throws SHARD_PLAN_INVALID. */
  planFor(files: readonly FileRow[], project: string, kept: ShardPlan | undefined): ShardPlan {
    const isKept = this.#given === undefined && kept !== undefined;
    const plan = isKept ? kept : planShards(files, this.#given ?? 'auto', project, kept);
    return withLines(plan, files);
  }
}

/** A link may lead outside although its path does not. A path that does not exist leads nowhere. */
async function checkInside(shards: readonly PlannedShard[], root: string): Promise<void> {
  for (const path of shards.flatMap((shard) => shard.paths)) {
    const real = await realpath(join(root, path)).catch(() => root);
    if (!isBelow(real, root)) {
      throw new BusError('PATH_OUTSIDE_ROOT', { path, root });
    }
  }
}

/** Sets the weight of each shard once, so that the partition over hosts does not change with every edit. */
function withLines(plan: ShardPlan, files: readonly FileRow[]): ShardPlan {
  if (plan.shards.some(({ lines }) => lines !== undefined)) return plan;
  const members = membersOf(plan, files);
  const shards = plan.shards.map((shard) => ({
    ...shard,
    lines: linesOf(members.get(shard.alias) ?? []),
  }));
  return { ...plan, shards };
}

/** A path without files is a typing error in a new request; in a kept plan it may have become empty. */
function checkCovered(shards: readonly PlannedShard[], files: readonly SourceFile[]): void {
  for (const { alias, paths } of shards) {
    for (const path of paths) {
      const isUsed =
        path === '.' ||
        files.some((file) => file.path === path || file.path.startsWith(`${path}/`));
      if (isUsed) continue;
      const detail = `${alias} names ${path}, which holds no source file`;
      throw new BusError('SHARD_PLAN_INVALID', { detail });
    }
  }
}
