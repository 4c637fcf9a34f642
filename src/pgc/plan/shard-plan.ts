import { posix } from 'node:path';
import { z } from 'zod';
import { isName } from '../../base/ids.js';
import { BusError } from '../../errors/bus-error.js';
import { freeAlias, type PlannedFile, type PlannedShard } from './planned-shards.js';
import { cutByBudget, cutByCount, type Part } from './shard-plan-cut.js';
import { shardNames } from './shard-names.js';
import { isAsEven, refitted } from './shard-plan-refit.js';
import { sectionsOf, type OwnersFile } from './shard-plan-owners.js';
import { cutByOwners, type OwnedPart } from './shard-plan-sections.js';

/**
 * `auto`: by line budget. A number: that many shards, as far as the folders allow. A file of owners: the files of one
 * owner stay together, as far as the budget allows.
 */
export type ShardRequest = 'auto' | number | ExplicitPlan | OwnersFile;

interface ExplicitPlan {
  shards: PlannedShard[];
}

export const planModes = ['auto', 'count', 'explicit', 'maintainers', 'codeowners'] as const;
export type PlanMode = (typeof planModes)[number];

export interface ShardPlan {
  /** `explicit` leaves out files outside its paths; the other modes own every path, also future ones. */
  mode: PlanMode;
  shards: PlannedShard[];
}

/** Limit for explicit plans and `--shards N`. */
export const shardsMax = 1_024;

const explicitSchema = z.strictObject({
  shards: z
    .array(z.strictObject({ alias: z.string(), paths: z.array(z.string().min(1)).min(1) }))
    .min(1)
    .max(shardsMax),
});

/** `auto`, a number, or the text of a plan file (JSON). Throws SHARD_PLAN_INVALID or PATH_OUTSIDE_ROOT. */
export function parseShardRequest(text: string): ShardRequest {
  const trimmed = text.trim();
  if (trimmed === 'auto') return 'auto';
  if (/^\d+$/.test(trimmed)) return validRequest(Number(trimmed));
  let value: unknown;
  try {
    value = JSON.parse(trimmed);
  } catch {
    throw invalid(`"${trimmed.slice(0, 60)}" is neither auto nor a number nor JSON`);
  }
  const parsed = explicitSchema.safeParse(value);
  if (!parsed.success) throw invalid(z.prettifyError(parsed.error).replaceAll('\n', ' '));
  return validRequest(parsed.data);
}

/** The request with normalised paths. Throws SHARD_PLAN_INVALID or PATH_OUTSIDE_ROOT. */
export function validRequest(request: ShardRequest): ShardRequest {
  if (request === 'auto') return request;
  if (typeof request === 'number') {
    if (Number.isInteger(request) && request >= 1 && request <= shardsMax) return request;
    throw invalid(`${request} is not a number of shards from 1 to ${shardsMax}`);
  }
  if ('owners' in request) {
    sectionsOf(request);
    return request;
  }
  const aliases = new Set<string>();
  const owners = new Map<string, string>();
  const shards = request.shards.map(({ alias, paths }) => {
    if (!isName(alias)) throw invalid(`"${alias}" is not a valid alias`);
    if (aliases.has(alias)) throw invalid(`alias ${alias} is used twice`);
    aliases.add(alias);
    const normal = [...new Set(paths.map(normalPath))];
    for (const path of normal) {
      const owner = owners.get(path);
      if (owner !== undefined) throw invalid(`${path} is given to ${owner} and to ${alias}`);
      owners.set(path, alias);
    }
    return { alias, paths: normal };
  });
  return { shards };
}

/**
 * Cuts a tree into shards. Every file has exactly one owner, except files outside an explicit plan. `before`: the
 * current plan, which `auto` and a number keep while its shards have a sensible size.
 */
export function planShards(
  files: readonly PlannedFile[],
  request: ShardRequest,
  project: string,
  before?: ShardPlan,
): ShardPlan {
  const valid = validRequest(request);
  if (typeof valid === 'object' && 'owners' in valid)
    return { mode: valid.owners, shards: ofOwners(cutByOwners(files, valid)) };
  if (typeof valid === 'object') return { mode: 'explicit', shards: valid.shards };
  if (valid === 'auto') {
    const kept = before?.mode === 'auto' ? refitted(files, before.shards, project) : undefined;
    return { mode: 'auto', shards: kept ?? named(cutByBudget(files), project) };
  }
  const fresh = named(cutByCount(files, valid), project);
  const isSame = before?.mode === 'count' && before.shards.length === fresh.length;
  return {
    mode: 'count',
    shards: isSame && isAsEven(files, before.shards, fresh) ? before.shards : fresh,
  };
}

function named(parts: readonly Part[], project: string): PlannedShard[] {
  const weighed = parts.map(({ items }) =>
    items.map(({ node, lines }) => ({ path: node.path, lines })),
  );
  const names = shardNames(weighed, { project });
  return weighed.map((items, at) => ({
    alias: names[at] ?? '',
    paths: items.map(({ path }) => path || '.'),
  }));
}

/** Drops parts without a path: they own no file. */
function ofOwners(parts: readonly OwnedPart[]): PlannedShard[] {
  const taken = new Set<string>();
  return parts
    .filter(({ paths }) => paths.length > 0)
    .map(({ title, paths }) => ({ alias: freeAlias(title, taken), paths }));
}

function normalPath(path: string): string {
  const normal = posix.normalize(path).replace(/\/+$/, '');
  if (path.includes('\0')) throw invalid('a path holds a NUL character');
  if (posix.isAbsolute(path) || normal === '..' || normal.startsWith('../')) {
    throw new BusError('PATH_OUTSIDE_ROOT', { path, root: 'the repository' });
  }
  return normal === '' ? '.' : normal;
}

function invalid(detail: string): BusError {
  return new BusError('SHARD_PLAN_INVALID', { detail });
}
