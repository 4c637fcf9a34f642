import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { BuildNotice } from './build-notice.js';
import type { IndexPlace, Manifest, ManifestShard } from '../plan/manifest.js';
import { OpenFiles } from '../format/container/section-file.js';
import { bodyTermsOf } from '../format/words.js';
import { Segment } from '../format/segment.js';
import type { ShardIndex } from '../format/shard-index.js';
import { openShard } from '../plan/open-shard.js';
import { openCandidates, openOverlay } from './open-overlay.js';
import { failedState, infoOf, reasonOf, stateOf, withOverlay } from './overlay-state.js';
import { generators } from './generators.js';
import { OverlayFile, OverlayWriter, type OverlayItem } from './overlay-file.js';
import { ShardAnswers, type AskedShard } from './shard-answers.js';

/**
 * Builds O7 for every shard: contradictions that one file shows by itself, and names for which no shard has a
 * definition. Decided again in every run from the candidates that the miners noted. No source is read, and a shard is
 * not asked again what it has already answered. A failure fails O7 in all shards.
 */
export async function buildCoherence(
  place: IndexPlace,
  shards: readonly ManifestShard[],
  before: Manifest | undefined,
  isForced: boolean,
  notice: BuildNotice,
): Promise<ManifestShard[]> {
  const files = await written(place, shards, isForced ? undefined : before, notice).catch(reasonOf);
  return shards.map((shard) => {
    const O7 = stateIn(shard, files);
    return withOverlay(shard, 'O7', O7);
  });
}

/** `files`: or the reason why there are none. */
function stateIn(shard: ManifestShard, files: Files | string): ManifestShard['overlays'][string] {
  const noted = shard.overlays.O7;
  // Mining failed, so there are no candidates.
  if (noted?.state === 'failed') return noted;
  if (typeof files === 'string') return failedState('O7', files);
  const { file, items } = files.get(shard.alias) ?? { file: '', items: 0 };
  return stateOf('O7', items, file);
}

type Files = Map<string, { file: string; items: number }>;

/** The part of a candidate item that O7 decides on. */
type Candidate = Pick<OverlayItem, 'rule' | 'subject'>;

/** `before`: undefined when nothing of the previous index may be reused. */
async function written(
  place: IndexPlace,
  shards: readonly ManifestShard[],
  before: Manifest | undefined,
  notice: BuildNotice,
): Promise<Files> {
  const candidatesOf = new Map<string, Candidate[]>();
  for (const shard of shards)
    candidatesOf.set(shard.alias, [...(await openCandidates(place, shard)).subjects()]);
  const answers = await answersOf(place, shards, candidatesOf, before);
  const served = new Map(before?.shards.map(({ overlays: { O7 } }) => [O7?.file, O7?.items]));
  const files: Files = new Map();
  for (const shard of shards) {
    const { alias } = shard;
    const file = fileName(shard, candidatesOf.get(alias) ?? [], answers);
    const known = served.get(file);
    const isServed = known !== undefined && (await isReadable(join(place.segments, file)));
    if (!isServed) await notice.add(new Map([[alias, ['O7']]]));
    files.set(alias, { file, items: isServed ? known : await write(place, shard, file, answers) });
  }
  return files;
}

/** Resolves with the number of items. Throws INDEX_*, STORE_UNAVAILABLE. */
async function write(
  place: IndexPlace,
  shard: ManifestShard,
  file: string,
  answers: Answers,
): Promise<number> {
  const noted = await openCandidates(place, shard);
  const writer = new OverlayWriter();
  for (const items of byFile(
    [...noted.items()].flatMap((item) => contradictionOf(item, answers) ?? []),
  )) {
    const [{ file_path, blob }] = items;
    writer.add(
      file_path,
      blob,
      items.map((item) => ({ ...item, overlay: 7 })),
    );
  }
  await writer.write(join(place.segments, file), infoOf('O7', shard.alias));
  return writer.items;
}

/** Named by the shard's version, which covers the candidates, and by the answers to them. */
function fileName(
  { alias, version }: ManifestShard,
  candidates: readonly Candidate[],
  answers: Answers,
): string {
  const marks = candidates
    .map((candidate) => (isAnswered(candidate, answers) ? '+' : '-'))
    .join('');
  const digest = createHash('sha256').update(`${generators.O7.version}\n${marks}`).digest('hex');
  return `${alias}-${version}.${digest.slice(0, 12)}.O7.ovl`;
}

async function isReadable(path: string): Promise<boolean> {
  return OverlayFile.open(path).then(
    () => true,
    () => false,
  );
}

/** Groups consecutive items of the same file. */
function byFile(items: readonly OverlayItem[]): [OverlayItem, ...OverlayItem[]][] {
  const groups: [OverlayItem, ...OverlayItem[]][] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (last?.[0].file_path === item.file_path) last.push(item);
    else groups.push([item]);
  }
  return groups;
}

/** The answers of the whole code base to the candidates. */
interface Answers {
  /** Names defined in a shard, or used anywhere in code, such as fields. */
  known: (name: string) => boolean;
  knownOption: (name: string) => boolean;
  /** Exported names that a document, or a comment elsewhere, describes. */
  documented: (name: string) => boolean;
  hasKconfig: boolean;
}

/** Question type: the first letter of a question. The name follows. */
const questionTypes = { mention: 'm', option: 'o', undocumented: 'd' } as const;

async function answersOf(
  place: IndexPlace,
  shards: readonly ManifestShard[],
  candidatesOf: ReadonlyMap<string, readonly Candidate[]>,
  before: Manifest | undefined,
): Promise<Answers> {
  const [mentioned, made] = [new Set<string>(), new Set<string>()];
  for (const { rule, subject } of [...candidatesOf.values()].flat()) {
    if (rule === 'mention') mentioned.add(subject);
    if (rule === 'made') made.add(subject);
  }
  const options = await optionsOf(place, shards);
  const questionOf = ({ rule, subject }: Candidate): string | undefined => {
    const mark = questionTypes[rule as keyof typeof questionTypes] as string | undefined;
    const isKnown =
      made.has(subject) ||
      options.has(subject) ||
      (rule === 'undocumented' && mentioned.has(subject));
    return mark === undefined || isKnown ? undefined : `${mark} ${subject}`;
  };
  const owns = new Map<string, Set<string>>();
  const questions = new Set<string>();
  for (const [alias, candidates] of candidatesOf) {
    const own = new Set(candidates.flatMap((candidate) => questionOf(candidate) ?? []));
    owns.set(alias, own);
    for (const question of own) questions.add(question);
  }
  const known = new Map(before?.shards.map((shard) => [shard.alias, shard]));
  const askedShards: AskedShard[] = [];
  using opened = new OpenFiles();
  for (const shard of shards) {
    const { alias, version } = shard;
    askedShards.push({
      ...{ version, own: owns.get(alias) ?? new Set() },
      before: await answeredBefore(place, shard, known.get(alias), opened),
      answer: async (wanted) => {
        using files = new OpenFiles();
        const index = await openShard(place, shard, {}, files, '');
        return wanted.map((question) => answerOf(index, question));
      },
    });
  }
  const cache =
    before === undefined ? new ShardAnswers() : await ShardAnswers.read(place.shardAnswers);
  const confirmed = await cache.ask(questions, askedShards);
  await cache.write(place.shardAnswers, questions, askedShards);
  const has = (name: string, mark: string): boolean =>
    made.has(name) || options.has(name) || confirmed.has(`${mark} ${name}`);
  return {
    known: (name) => has(name, questionTypes.mention),
    knownOption: (name) => has(name, questionTypes.option),
    documented: (name) =>
      mentioned.has(name) || confirmed.has(`${questionTypes.undocumented} ${name}`),
    // If O5 failed in a shard, not all options are known.
    hasKconfig: options.size > 0 && shards.every(({ overlays }) => overlays.O5?.state === 'ready'),
  };
}

/** The options that Kconfig files define, from O5. */
async function optionsOf(
  place: IndexPlace,
  shards: readonly ManifestShard[],
): Promise<Set<string>> {
  const options = new Set<string>();
  for (const shard of shards) {
    if ((shard.overlays.O5?.file ?? '') === '') continue;
    const file = await openOverlay(place, shard, 'O5');
    for (const { rule, subject } of file.subjects()) if (rule === 'option') options.add(subject);
  }
  return options;
}

/** A system call is defined under another name than callers use. */
const systemCalls = ['sys_', 'compat_sys_', 'ksys_', 'compat_ksys_'];

function answerOf(index: ShardIndex, question: string): boolean {
  const [mark, name] = [question.slice(0, 1), question.slice(2)];
  const symbols = index.symbolsNamed(name);
  if (mark === questionTypes.undocumented)
    return symbols.some((each) => index.symbol(each).doc !== '');
  if (symbols.length > 0 || index.scannedNamed(name).length > 0) return true;
  if (systemCalls.some((prefix) => index.symbolsNamed(`${prefix}${name}`).length > 0)) return true;
  return mark === questionTypes.mention && isInCode(index, name);
}

/** Undefined: it is the same, or texts that are not in its delta may be new in it. */
async function answeredBefore(
  place: IndexPlace,
  { segment, version, delta }: ManifestShard,
  before: ManifestShard | undefined,
  files: OpenFiles,
): Promise<AskedShard['before']> {
  if (before === undefined || before.version === version) return undefined;
  if (delta === undefined || before.segment !== segment) return undefined;
  const hides = new Set(delta.hides);
  if (before.delta?.hides.every((path) => hides.has(path)) === false) return undefined;
  const index = await Segment.open(join(place.segments, delta.segment), {}, '', files);
  let said: { names: ReadonlySet<string>; terms: ReadonlySet<string> } | undefined;
  const mayAnswer = (question: string): boolean => {
    said ??= {
      names: new Set(index.symbolNames()),
      terms: new Set(index.terms().map(({ term }) => term)),
    };
    const name = question.slice(2);
    return (
      ['', ...systemCalls].some((prefix) => said?.names.has(`${prefix}${name}`)) ||
      said.terms.has(bodyTermsOf(name)[0] ?? '')
    );
  };
  return { version: before.version, mayAnswer };
}

/** Whether any code contains the whole name, which is its first term. */
function isInCode(index: ShardIndex, name: string): boolean {
  const [term = ''] = bodyTermsOf(name);
  return index.documentFrequency(term) > 0;
}

/** Documents about the past; code that is no public interface. */
const pastDocument =
  /(?:^|\/)(?:porting|changes|changelog|history|news|releases?|release-?notes|todo|credits)[\w.-]*$/i;
const testFolder = /(?:^|\/)(?:tests?|selftests?|kunit|samples|examples|fixtures)\//;

/** Whether the code base has what the candidate names. */
function isAnswered({ rule, subject }: Candidate, answers: Answers): boolean {
  switch (rule) {
    case 'made':
      return true;
    case 'undocumented':
      return answers.documented(subject);
    case 'mention':
      return answers.known(subject);
    case 'option':
      // Without any Kconfig, such names mean something else.
      return answers.knownOption(subject) || !answers.hasKconfig;
    default:
      return false;
  }
}

/** The O7 item of a candidate; undefined when the candidate is no contradiction. */
function contradictionOf(item: OverlayItem, answers: Answers): OverlayItem | undefined {
  const { rule, subject, file_path: path } = item;
  if (isAnswered(item, answers)) return undefined;
  switch (rule) {
    case 'undocumented':
      return testFolder.test(path) ? undefined : item;
    case 'mention':
      if (pastDocument.test(path)) return undefined;
      return {
        ...item,
        rule: 'unknown-name',
        text: `speaks of ${subject}(), which stands nowhere in the code`,
      };
    case 'option':
      return { ...item, rule: 'unknown-option', text: `uses ${subject}, which no Kconfig defines` };
    default:
      return item;
  }
}
