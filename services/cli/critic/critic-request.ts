import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../../src/config/config.js';
import {
  contextBytesMax,
  modesIn,
  readContext,
  requestOf,
} from '../../../src/critic/orchestration/context-file.js';
import type { ContextWords } from '../../../src/critic/select/dimensions.js';
import { detectedBudget } from '../../../src/critic/select/tables.js';
import { criticLimits, type CritiqueRequest, type Flag } from '../../../src/critic/shapes.js';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import { indexedIn, artifactPlace, realOf, treeOf } from '../../../src/remote/artifact-place.js';
import { textIn, wholeOf } from '../input.js';

/** What was asked for on the command line, as it came. */
export interface CriticWords {
  mode?: string;
  artifact?: string;
  criticality?: string;
  iteration?: number;
  previousScore?: number;
  threshold?: number;
  budget?: string;
  context?: string;
  strictOrder?: boolean;
  repo?: string;
  rules?: string[];
  phase?: string;
  targetType?: string;
  maturity?: string;
  team?: string;
  enforcement?: string;
  platform?: string;
  revision?: boolean;
  id?: string;
}

export interface Asked {
  request: CritiqueRequest;
  warnings: Flag[];
}

/**
 * The review that is asked for: of a context file, with the options over it. A mode that is named, or any dimension, makes it
 * adversarial. Throws MODE_UNKNOWN, ARTIFACT_REQUIRED, ARTIFACT_NOT_FOUND, CRITIC_CONTEXT_INVALID, TOO_LARGE, USAGE.
 */
export async function requestFrom(words: CriticWords, config: Config): Promise<Asked> {
  const named = words.mode === undefined ? undefined : modesNamed(words.mode);
  const { context, warnings } = await contextIn(words.context);
  const given = named === undefined ? context.modes : named.modes;
  const modes = [...new Set(given.filter((mode) => mode !== 'standard' || given.length === 1))];
  const its = dimensionsOf(words);
  const wants = named?.isAuto === true || modes.some((mode) => mode !== 'standard');
  const isPlain = modes.length === 1 && modes[0] === 'standard';
  // A context from a file has the gate of a context, even if it names a mode.
  const is_adversarial =
    context.is_adversarial || (!isPlain && (wants || Object.keys(its).length > 0));
  const artifact = await artifactAt(words.artifact ?? context.artifactPath);
  const { repo } = words;
  const isKnown = indexedIn(config);
  const root = repo === undefined ? treeOf(artifact.file, isKnown) : await realOf(repo);
  const from = { root, folder: process.cwd(), isKnown };
  const { iteration, previousScore, threshold } = words;
  const request: CritiqueRequest = {
    ...{
      id: words.id ?? '',
      artifact: { ...(await artifactPlace(artifact.name, from)), text: artifact.text },
      root,
    },
    ...{ modes, strict_order: words.strictOrder === true, is_adversarial },
    context: { token_budget: detectedBudget(config), ...context.words, ...its },
    is_revision: words.revision === true,
    iteration: iteration ?? context.iteration,
    ...defined({ previous_score: previousScore ?? context.previous_score }),
    ...defined({ threshold: threshold ?? context.threshold }),
    ...defined({ iterations_max: context.iterations_max }),
    ...{ tokens: 0, rules: await rulesIn(words.rules ?? [], from), criteria: context.criteria },
    ...{ ps_id: context.ps_id, entry_id: context.entry_id, generator: context.generator },
  };
  return { request, warnings };
}

/** `auto`: by the context. Empty: `standard`. */
function modesNamed(text: string): { modes: CritiqueRequest['modes']; isAuto: boolean } {
  if (text.trim().toLowerCase() === 'auto') return { modes: [], isAuto: true };
  const modes = modesIn(text);
  return { modes: modes.length === 0 ? ['standard'] : modes, isAuto: false };
}

type ContextOf = Required<
  Pick<CritiqueRequest, 'modes' | 'is_adversarial' | 'iteration' | 'criteria' | 'generator'>
> &
  Pick<
    CritiqueRequest,
    'ps_id' | 'entry_id' | 'previous_score' | 'threshold' | 'iterations_max'
  > & {
    words: ContextWords;
    artifactPath: string;
  };

async function contextIn(file?: string): Promise<{ context: ContextOf; warnings: Flag[] }> {
  const none: ContextOf = {
    ...{ modes: [], is_adversarial: false, iteration: 1, criteria: '', generator: '' },
    ...{ ps_id: '', entry_id: '', words: {}, artifactPath: '' },
  };
  if (file === undefined) return { context: none, warnings: [] };
  const source = textIn(await wholeOf(file, contextBytesMax, file), file);
  const { context, warnings } = readContext(source, file);
  const { context: words = {}, ...its } = requestOf(context);
  return { context: { ...none, ...its, words, artifactPath: context.artifact }, warnings };
}

function dimensionsOf(words: CriticWords): ContextWords {
  return defined({
    criticality: words.criticality,
    phase: words.phase,
    target_type: words.targetType,
    maturity: words.maturity,
    team: words.team,
    enforcement: words.enforcement,
    platform: words.platform,
    token_budget: words.budget,
  });
}

interface ArtifactFile {
  /** As it was named. */
  name: string;
  /** Of this machine, links followed: what it is decides how strictly it is looked at. */
  file: string;
  text: string;
}

async function artifactAt(name = ''): Promise<ArtifactFile> {
  if (name.trim() === '') throw new BusError('ARTIFACT_REQUIRED');
  const file = path.resolve(name);
  const its = await stat(file).catch(() => undefined);
  if (its?.isFile() !== true) throw new BusError('ARTIFACT_NOT_FOUND', { path: name });
  const limit = criticLimits.artifactBytes;
  if (its.size > limit)
    throw new BusError('TOO_LARGE', { what: `the artifact ${name}`, bytes: its.size, limit });
  // Some files have no size, or grow.
  const bytes = await wholeOf(file, limit, `the artifact ${name}`).catch((cause: unknown) => {
    if (asBusError(cause).code === 'TOO_LARGE') throw cause;
    throw new BusError('ARTIFACT_NOT_FOUND', { path: name }, { cause });
  });
  return { name, file: await realOf(file), text: textIn(bytes, name) };
}

/** By their paths from the root of the tree: some folders are of rules that end a review. */
async function rulesIn(
  files: readonly string[],
  from: Parameters<typeof artifactPlace>[1],
): Promise<CritiqueRequest['rules']> {
  const limit = criticLimits.ruleFiles;
  if (files.length > limit)
    throw new BusError('TOO_LARGE', { what: 'a list', bytes: files.length, unit: 'files', limit });
  const read = async (file: string): Promise<CritiqueRequest['rules'][number]> => {
    const { tree: _, ...place } = await artifactPlace(file, from);
    const bytes = await wholeOf(file, criticLimits.ruleBytes, `the rules ${file}`);
    return { ...place, text: textIn(bytes, file) };
  };
  return Promise.all(files.map(read));
}

function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
