import { stem } from '../../format/stem.js';

/** The role of a word in `How does SUBJECT ACT OBJECT`. */
export type Role = 'subject' | 'act' | 'object';

/**
 * Verbs that code is asked about, as `does` leaves them. Several are nouns as well; behind an article they are no act.
 */
const acts = new Set(
  (
    'accept account acknowledge acquire activate add adjust advance allocate answer apply arm ask assign attach ' +
    'authenticate balance begin bind block boot bring build cache calculate cancel capture charge check choose ' +
    'claim clean clear clone close collect commit compact compare compile complete compress compute configure ' +
    'connect construct convert copy count create decide decode decompress decrypt defer delay delete deliver ' +
    'dequeue derive destroy detach detect determine disable discard discover dispatch display divide draw drive ' +
    'drop emit enable encode encrypt end enforce enqueue ensure enter enumerate erase evict examine execute ' +
    'expand expire export expose extract fault fetch fill filter find finish fire flush follow forget fork ' +
    'format forward free generate get give grab grant grow guard hand handle hash hold hook identify ignore import ' +
    'increment index inform inherit initialise initialize inject insert install invalidate invoke isolate issue ' +
    'join keep kill launch lead learn let limit link list listen load locate lock log look lookup make manage map ' +
    'mark mask match measure merge migrate mine mirror modify monitor mount move multiplex negotiate notify obtain ' +
    'offload open parse pass patch perform pick pin place plan play poll populate post preempt prefetch prepare ' +
    'prevent print probe process program propagate protect provide publish pull purge push put queue raise rank ' +
    'reach read rebuild receive reclaim recognise recognize record recover redirect refill refresh refuse register ' +
    'reject relay release reload remap remember remove render renew repair replace replay reply report request ' +
    'reserve reset resize resolve respond restart restore resume retire retrieve retry return reuse revoke rewrite ' +
    'rotate route run sample save scale scan schedule search select send serialise serialize serve set settle share ' +
    'shrink shut signal skip sleep spawn split spread start steal step stop store stream submit subscribe suspend ' +
    'swap switch sync synchronise synchronize take tell terminate throttle time toggle trace track transfer ' +
    'transform translate transmit traverse trigger truncate turn unbind unload unlock unmap unmount unregister ' +
    'unwind update upgrade use validate verify wait wake walk watch wrap write yield zero'
  )
    .split(' ')
    .map(stem),
);

/** Participles that no rule brings back to their verb. */
const participles = new Set(
  (
    'begun bound brought built caught chosen drawn driven found given held hidden hit hung kept known led left lent lost ' +
    'made met put read run seen sent set shown shut split spread stolen struck sworn taken taught told torn woken written'
  ).split(' '),
);

const articles = new Set(
  'a an the this that these those its their his her our my any each every some no of to by for with from'.split(
    ' ',
  ),
);
const active = /^\s*(?:how|why|when|where)\s+(?:do|does|did|can|will|would|should)$/i;
const passive = /^\s*(?:how|why|when|where)\s+(?:is|are|was|were|gets?)$/i;

/**
 * The role of each word, in their order; undefined where the sentence does not say, which is everywhere but in `How
 * does …` and `How is … done`. A heuristic by word order: English puts the act after its subject.
 */
export function rolesOf(words: readonly string[]): (Role | undefined)[] {
  const [first = '', second = ''] = words;
  const opening = `${first} ${second}`;
  if (passive.test(opening)) return passiveRoles(words);
  if (!active.test(opening)) return words.map(() => undefined);
  let at = words.findIndex((word, place) => place > 2 && isAct(word, words[place - 1]));
  // Of several in a row the first ones are nouns: the `read cache` drops something.
  while (at >= 0 && isAct(words[at + 1] ?? '')) at += 1;
  if (at < 0) return words.map(() => undefined);
  return words.map((_, place) => (place < at ? 'subject' : place === at ? 'act' : 'object'));
}

/** The participle of a passive is the act; its grammatical subject is the object. */
function passiveRoles(words: readonly string[]): (Role | undefined)[] {
  const at = words.findIndex((word, place) => place > 2 && isParticiple(word));
  return words.map((_, place) => (at < 0 ? undefined : place === at ? 'act' : 'object'));
}

function isParticiple(word: string): boolean {
  return participles.has(word) || (word.endsWith('ed') && acts.has(stem(word)));
}

function isAct(word: string, before = ''): boolean {
  const lower = word.toLowerCase();
  return word === lower && !articles.has(before.toLowerCase()) && acts.has(stem(lower));
}
