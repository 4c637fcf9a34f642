import { blanked } from '../comment.js';
import { type Items, type ItemSource, itemTextCharsMax } from './item.js';

/** A comment is read this far for statements. */
const commentCharsMax = 8_000;
/** Characters of a long sentence that are shown before the statement. */
const leadCharsMax = 60;
const wordsMin = 2;
/** Longer ones are tables and lists without a full stop. */
const sentenceCharsMax = 2_000;
const textLanguages: ReadonlySet<string> = new Set(['markdown', 'rst', 'text']);

/** Stands in every text that states anything: nine in ten comments need not be read closer. */
const telling =
  /must|should|shall|needs? to|has to|have to|called|caller|protected|guarded|seriali[sz]ed|context|locking|condition|requires?|expects?|assumes?|@pre|@post|guarantee|invariant|holds?\b|O\(|Theorem|Lemma|Corollary|Axiom|Proposition|Proof|flow|Upon |On (?:return|success|exit|error|failure)/i;

/** What must hold before a court. */
const legal = /copyright|licen[sc]|warrant|redistribut|liab(?:le|ility)|\bdamages\b/i;

/** Names of locks as they are written: `lock`, `rq->lock`, `siglock`, `client_mutex`; not `block`, `clock` or `unlock`. */
const lock =
  '(?:(?<![bc]|un|dead|live|inter)lock(?:s|ed|ing)?|(?<![a-z])(?:mutex(?:es)?|sem(?:aphore)?|rwsem|rtnl|rcu|bkl))(?:_(?:bh|irq|irqsave|nested|excl|shared))?(?![a-z_])';
const masked =
  '(?:irqs?|interrupts?|bh|bhs|softirqs?|preemption)\\s+(?:(?:is|are|be)\\s+)?(?:disabled|enabled|off|masked)|(?:disabled|enabled)\\s+(?:local\\s+)?(?:irqs?|interrupts?|bh|preemption)';
const held = `(?:${lock}|${masked})`;
const must = '(?:must|should|shall|needs?\\s+to|has\\s+to|have\\s+to)';
const subject = '(?:this|the|that)\\s+(?:function|routine|macro|helper|call|method|callback)';

/** `unless`: what takes the statement back, or is said in other words for something else. */
interface Statement {
  rule: string;
  pattern: RegExp;
  unless?: RegExp;
}

/** What must hold, in the words that people use for it. Of the locking rules and the others the first that fits. */
const duties: readonly Statement[] = [
  {
    rule: 'locking-rule',
    pattern: new RegExp(
      [
        `\\b${must}\\s+(?:only\\s+|not\\s+|always\\s+|never\\s+)?be\\s+called\\b[^]*${held}`,
        `\\b(?:called|invoked|entered)\\s+(?:\\w+\\s+)?(?:with|under|while|without)\\b[^]*${held}`,
        `\\bcallers?\\s+(?:${must}|holds?|has|have|owns?|already)\\b[^]*${held}`,
        `(?<!\\b(?:we|I|you)\\s)\\b${must}\\s+(?:not\\s+|never\\s+|always\\s+)?(?:hold|be\\s+holding|own|take|acquire)\\b[^]*${held}`,
        `\\b(?:protected|guarded|seriali[sz]ed)\\s+(?:\\w+\\s+)?(?:by|with|under)\\b[^]*${held}`,
        `${held}[^]{0,40}\\b${must}\\s+(?:not\\s+|already\\s+)?be\\s+(?:held|taken|acquired|locked|disabled)`,
        `\\b(?:page|folio|inode|buffer|object|it)\\s+${must}\\s+(?:not\\s+)?be\\s+(?:un)?locked\\b`,
        `\\b(?:requires?|needs?|assumes?|expects?)\\b[^]{0,60}${held}[^]{0,40}\\b(?:held|hold|holds|locked|taken|disabled)\\b`,
        '^(?:call(?:ing)?\\s+)?(?:context|locking)\\s*:[^]*(?:context|sleep|irq|interrupt|process|atomic|user|task|bh|thread|workqueue|softirq|preempt|none|caller|lock|mutex|sem|rcu|rtnl|held)',
      ].join('|'),
      'i',
    ),
    unless:
      /\bwith or without\b|\bno\s+(?:\w+\s+){0,4}locks?\s+(?:is\s+|are\s+)?(?:required|needed|necessary|held)|\block\s+(?:is\s+)?not\s+(?:required|needed)/i,
  },
  {
    rule: 'caller-duty',
    pattern: new RegExp(
      `\\bcallers?\\s+(?:${must})\\b|\\bcallers?(?:'s)?\\s+(?:(?:is|are)\\s+)?(?:\\w+\\s+)?responsib(?:le|ility)\\b|\\bresponsibility\\s+of\\s+the\\s+caller`,
      'i',
    ),
  },
  {
    rule: 'precondition',
    pattern: new RegExp(
      [
        '\\bpre-?conditions?\\b[^:]{0,20}:|@pre\\b|^\\W*(?:requires|assumes)\\s*:',
        `\\b(?:must|should|shall|has\\s+to|have\\s+to)\\s+(?:only\\s+|not\\s+|never\\s+|always\\s+)?be\\s+(?:called|invoked)\\s+(?:\\w+\\s+)?(?:after|before|from|in|on|with|once|when|while|by|under|within|inside|outside|during|prior)\\b`,
        `^${subject}\\s+(?:requires?|expects?|assumes?)\\b`,
        '\\bmust\\s+not\\s+be\\s+(?:NULL|zero|negative|empty|0)\\b',
        '\\bmust\\s+be\\s+(?:non-?(?:null|zero|negative|empty)|positive|(?:\\w+[- ])?aligned|(?:a|some)\\s+(?:power|multiple)|at\\s+(?:least|most)|(?:strictly\\s+)?(?:less|greater|larger|smaller|bigger|lower|higher|shorter|longer)\\s+than|between|[<>]=?|in\\s+the\\s+range|a\\s+valid|initiali[sz]ed|NULL|(?:set\\s+to\\s+)?zero\\b)',
      ].join('|'),
      'i',
    ),
  },
];

const facts: readonly Statement[] = [
  {
    rule: 'postcondition',
    pattern: new RegExp(
      `\\bpost-?conditions?\\b[^:]{0,20}:|@post\\b|^(?:on|upon|after)\\s+(?:an?\\s+)?(?:successful\\s+)?(?:return|exit|success|completion|failure|error)\\b|\\breturns?\\s+with\\b[^]*${held}[^]*\\b(?:held|locked|disabled|enabled|released|dropped|taken)\\b`,
      'i',
    ),
    // What the code does next is not a promise to its callers.
    unless:
      /^(?:on|upon|after)\s+(?:\w+\s+){1,2}?(?:,\s*)?(?:we|I|just|set|clear|free|update|store|mark|drop|release|increment|decrement|call|reset|restore|do|go|goto|try|copy|add|remove|put|wake|start|stop|keep|use|check|make|let|save|skip|leave)\b/i,
  },
  {
    rule: 'guarantee',
    pattern:
      /\b(?:is|are|be)\s+(?:\w+\s+)?guaranteed\s+(?:not\s+)?(?:to|that|by)\b|\b(?:this|it|which|that|barrier|lock|function|call|order(?:ing)?|@?\w+\(\))\s+(?:also\s+)?guarantees\s+that\b/i,
    unless:
      /(?:\b(?:not|no|nothing|never|cannot|without|neither|nor|used to|if|until|unless|whether)\b|n't)[^]{0,60}\bguarantee|\bto\s+guarantee\b/i,
  },
  {
    rule: 'invariant',
    pattern:
      /\b(?:loop\s+|class\s+|following\s+|an\s+|the\s+|these\s+|our\s+|this\s+)invariants?\b(?!\s+(?:\w+\s+)?(?:registers?|tsc|clock|counters?|timer|section|culture|state|measure|utili[sz]ation|frequency))|^invariants?\s*:|\binvariants?\s+(?:that|holds?|must)\b|\bmust\s+(?:always|never)\b|\balways\s+holds?\b/i,
    unless:
      /\b(?:if|whether)\b[^]{0,60}\bmust\s+(?:always|never)\b|^(?:\S+\s+){0,2}\S+$|no-invariants|\b(?:fetch|get|read|init|store)\w*\s+(?:the\s+)?invariants/i,
  },
  {
    rule: 'complexity',
    pattern: /\bO\(\s*(?:1|log|n|m|k|N|M|V|E|V\s*\+|n\s*[\^*+])[^)]{0,24}\)/,
  },
  {
    rule: 'theorem',
    pattern:
      /^\(?(?:Theorem|Lemma|Corollary|Axiom|Proposition)(?:\s+\d+(?:\.\d+)*)?\s*:|\b(?:Theorem|Lemma|Corollary|Axiom|Proposition)\s+\d|^\(?Proof(?:\s+(?:of|for|that)\b[^:.]{0,60})?\s*[:.]/,
  },
  {
    rule: 'overflow-note',
    pattern: /\b(?:can(?:not|'t)?|may|might|could|will\s+not|won't|never)\s+(?:over|under)flow\b/i,
  },
];

/** What comments and documents state, sentence by sentence. */
export function statedIn(source: ItemSource, items: Items): void {
  for (const [from, to] of prose(source)) stated(source, items, from, to);
}

/** Where people write to people: comments, or all of a document. */
function* prose({ text, language }: ItemSource): Generator<[from: number, to: number]> {
  if (textLanguages.has(language)) {
    yield [0, text.length];
    return;
  }
  const comments =
    language === 'python'
      ? /(?:^[ \t]*#[^\n]*\n?){1,400}|"""[\s\S]*?"""|'''[\s\S]*?'''/gm
      : // Without an end it goes on to the end of the text, and is read once.
        /\/\*[^]*?(?:\*\/|(?![^]))|(?:^[ \t]*\/\/[^\n]*\n?){1,400}|\/\/[^\n]*/gm;
  for (const found of text.matchAll(comments)) {
    const end = found.index + Math.min(found[0].length, commentCharsMax);
    yield [found.index, end];
  }
}

function stated({ text }: ItemSource, items: Items, from: number, to: number): void {
  if (!telling.test(text.slice(from, to))) return;
  // Marks of comments are blanked, so that a sentence reads on over its lines.
  const plain = text
    .slice(from, to)
    .replace(/^[ \t]*(?:\/\*\*?|\*\/|\*+(?!\/)|\/\/+[!/]?|#+(?=\s))/gm, blanked)
    .replace(/\*\/$/, '  ');
  for (const sentence of sentencesOf(plain)) {
    const said = plain.slice(sentence.from, sentence.to);
    if (!telling.test(said) || legal.test(said)) continue;
    if (said.split(/\s+/, wordsMin).length < wordsMin) continue;
    const duty = duties.find((each) => matches(each, said));
    for (const { rule, pattern } of [
      ...(duty === undefined ? [] : [duty]),
      ...facts.filter((each) => matches(each, said)),
    ])
      items.add(rule, from + sentence.from, from + sentence.to, shown(said, pattern));
  }
}

function matches({ pattern, unless }: Statement, said: string): boolean {
  return pattern.test(said) && unless?.test(said) !== true;
}

/** Of a sentence that is too long to be shown, the part with the statement. */
function shown(said: string, pattern: RegExp): string {
  const folded = said.replace(/\s+/g, ' ');
  const found = pattern.exec(folded);
  if (found === null || found.index + found[0].length < itemTextCharsMax) return folded;
  const at = folded.indexOf(' ', Math.max(0, found.index - leadCharsMax));
  return at < 0 || found.index < leadCharsMax ? folded : `…${folded.slice(at)}`;
}

/** Ends of sentences (not of `e.g.`), blank lines, and lines that begin something: a tag, a heading, a point. */
const breaks =
  /(?<!\b(?:e\.g|i\.e|etc|cf|vs|resp|aka))[.!?](?=\s)|\n[ \t]*(?=\n)|\n[ \t]*(?=@[\w.]{1,80}[ \t]{0,8}[^\n:]{0,40}:|(?:call(?:ing)?\s+)?(?:context|locking|returns?|note|description|input|output|side effects|proof|todo|fixme|xxx)\s*:|[-o*+]\s|\(?\w{1,2}[.)]\s|%\w+:)/gi;

function* sentencesOf(plain: string): Generator<{ from: number; to: number }> {
  let from = 0;
  for (const found of plain.matchAll(breaks)) {
    const to = found.index + (found[0].startsWith('\n') ? 0 : 1);
    const sentence = trimmed(plain, from, to);
    if (sentence !== undefined) yield sentence;
    from = to;
  }
  const last = trimmed(plain, from, plain.length);
  if (last !== undefined) yield last;
}

function trimmed(
  plain: string,
  from: number,
  to: number,
): { from: number; to: number } | undefined {
  const raw = plain.slice(from, to);
  const lead = raw.length - raw.trimStart().length;
  const end = from + raw.trimEnd().length;
  const length = end - from - lead;
  return length <= 0 || length > sentenceCharsMax ? undefined : { from: from + lead, to: end };
}
