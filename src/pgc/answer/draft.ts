import { siteCount } from '../bind/index-cache.js';
import { targetsOfCall } from '../bind/call-graph.js';
import { citeCall, citeDocument, citeItem, citeMessage, type Excerpts } from './citation.js';
import {
  edgeOf,
  itemEvidence,
  lineEvidence,
  reasons,
  symbolEvidence,
  type Reading,
  type Unnumbered,
} from './evidence.js';
import { ReportMessages } from '../search/locate/messages.js';
import { passageOf } from './passage.js';
import { conceptsIn, type Question } from '../search/question/question.js';
import { tellingShare } from '../search/retrieve.js';
import type { Weighing } from '../search/scorer.js';
import type { Found } from '../search/search.js';
import type { Evidence, FlowEdge, NextStep, OverlayName, Unsure } from '../shapes.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';

/** Call sites of one symbol that a question about its users lists. */
const callersListed = 4;
const callsPerSymbol = 2;
/** Of the sources, those that are calls where the question names a function and does not ask who calls it. */
const callsShare = 0.4;
/** Hits of one file before those of others have had their turn. */
const perFileFirst = 1;

/** Files whose sections say more than their first sentence. */
const prose = /(?:\.(?:md|markdown|rst|txt|adoc)|(?:^|\/)[A-Z]+)$/;
/** Hits whose strings are compared with the messages of a question, and lines of each. */
const messageHitsMax = 24;
const messageLinesMax = 600;
/** That a string of the code is the message is hardly ever chance. */
const printedSimilarity = 0.9;

type SymbolHit = Extract<Found, { kind: 'symbol' }>;
type ItemHit = Extract<Found, { kind: 'item' }>;

/** One answer in the making. */
export class AnswerDraft {
  readonly evidence: Evidence[] = [];
  readonly flow: FlowEdge[] = [];
  readonly unsure: Unsure[] = [];
  readonly next: NextStep[] = [];
  /** Whether no evidence is missing because its text could not be read. */
  isWhole = true;
  readonly #reading: Reading;

  constructor(
    readonly index: ShardIndex,
    readonly excerpts: Excerpts,
    readonly question: Question,
    readonly weighing: Weighing,
    readonly topK: number,
    readonly overlays: ReadonlySet<OverlayName>,
    /** Files that may be cited. */
    readonly isWanted: (path: string) => boolean = () => true,
  ) {
    this.#reading = { index, excerpts, sought: { question, masses: weighing.masses } };
  }

  /** Best first; the first one is relevant. */
  write(found: readonly Found[]): void {
    const best = found[0]?.similarity ?? 0;
    const telling = found.filter((each) => each.similarity >= tellingShare * best);
    const chosen = this.#spread(this.#distinct(telling)).slice(0, this.topK);
    const isShown = (each: Found): boolean => each.kind === 'item' || this.overlays.has('O1');
    const shown = chosen.filter(isShown);
    if (this.overlays.has('O1')) this.#messages(telling);
    const first = Math.max(this.overlays.has('O1') ? 1 : 0, this.topK - this.#callsWanted(chosen));
    const calls = this.overlays.has('O3') ? chosen : [];
    // Who asks for callers is answered by them; what they call comes behind.
    const isAsked = this.question.asks === 'callers';
    const asked = calls.slice(0, 1).filter((each) => isAsked && this.#wantsCallers(each));
    for (const each of asked) this.#calls(each);
    for (const each of shown.slice(0, first)) this.#cited(each);
    for (const each of calls.slice(asked.length)) this.#calls(each);
    // What the call edges left over goes to further hits.
    for (const each of shown.slice(first)) this.#cited(each);
    this.#suggest(chosen);
  }

  /** What the graph knows of the function that the question names, and the answer does not show. */
  #suggest(chosen: readonly Found[]): void {
    const named = chosen.find((each) => each.kind === 'symbol' && each.exact > 0);
    if (named?.kind !== 'symbol' || named.symbol === undefined) return;
    const row = this.index.symbol(named.symbol);
    if (row.kind !== 'function' && row.kind !== 'method') return;
    const symbol = `${this.index.file(row.file).path}#${row.name}`;
    if (this.next.every(({ operation }) => operation !== 'callers'))
      this.next.push({ operation: 'callers', arguments: { symbol }, why: 'every call site' });
    const why = 'all that a change of it affects';
    this.next.push({ operation: 'blast-radius', arguments: { symbol }, why });
  }

  get #isFull(): boolean {
    return this.evidence.length >= this.topK;
  }

  /** Evidence that is kept for calls, which stand before the definition or behind it. */
  #callsWanted(chosen: readonly Found[]): number {
    if (!this.overlays.has('O3') || this.topK === 1) return 0;
    if (!this.overlays.has('O1')) return this.topK;
    const named = chosen.filter((each) => each.kind === 'symbol' && each.exact > 0);
    if (named.length === 0) return 0;
    return this.question.intent === 'usage' ? this.topK - 1 : Math.floor(this.topK * callsShare);
  }

  #wantsCallers(hit: Found): boolean {
    const { asks, intent } = this.question;
    return intent === 'usage' && asks !== 'callees' && hit.kind === 'symbol' && hit.exact > 0;
  }

  /** Declarations, stand-ins, copies of one name in one file, and what an item says again, add nothing. */
  #distinct(found: readonly Found[]): Found[] {
    const seen = new Set<string>();
    return found.filter((each) => {
      const keys = this.#keysOf(each);
      if (keys.some((key) => seen.has(key))) return false;
      for (const key of keys) seen.add(key);
      if (each.kind === 'symbol' && each.symbol !== undefined)
        seen.add(`declared ${this.index.symbol(each.symbol).name}`);
      return true;
    });
  }

  /** Other files first where one has many hits: the third function of one file tells less than another file. */
  #spread(found: readonly Found[]): Found[] {
    const seen = new Map<string, number>();
    const isFirst = found.map((each) => {
      const path = this.#pathOf(each);
      seen.set(path, (seen.get(path) ?? 0) + 1);
      return (seen.get(path) ?? 0) <= perFileFirst;
    });
    return [
      ...found.filter((_, at) => isFirst[at]),
      ...found.filter((_, at) => isFirst[at] !== true),
    ];
  }

  #pathOf(each: Found): string {
    return each.kind === 'item' ? each.item.file_path : this.index.file(each.file).path;
  }

  #keysOf(each: Found): string[] {
    if (each.kind === 'item') {
      const { file_path, line_start, text } = each.item;
      return [`${file_path}:${line_start}`, `text ${text}`];
    }
    const { path } = this.index.file(each.file);
    if (each.symbol === undefined) return [`file ${path}`];
    const { name, declaration, line_start } = this.index.symbol(each.symbol);
    return [
      declaration ? `declared ${name}` : `${name} in ${path}`,
      ...(declaration ? [] : [`${path}:${line_start}`]),
    ];
  }

  #cited(each: Found): void {
    if (this.#isFull) return;
    if (each.kind === 'item') this.#item(each);
    else this.#symbol(each);
  }

  /** Where a message of the question is printed: nothing tells more. */
  #messages(found: readonly Found[]): void {
    if (this.question.messages.length === 0) return;
    const messages = new ReportMessages(this.question.messages);
    const told = new Set<string>();
    for (const each of found.slice(0, messageHitsMax)) {
      if (each.kind === 'item' || each.symbol === undefined) continue;
      const { name, line_start, line_end } = this.index.symbol(each.symbol);
      const file = this.index.file(each.file);
      const to = Math.min(line_end, line_start + messageLinesMax);
      const [match] = messages.matchesIn(this.excerpts.lines(file, line_start, to) ?? []);
      if (match === undefined || told.has(match.line)) continue;
      const line = line_start + match.at - 1;
      const place = { file, line, name };
      const similarity = Math.max(each.similarity, printedSimilarity);
      const citation = citeMessage(this.index, this.excerpts, place, similarity);
      if (citation === undefined) continue;
      const how = { kind: 'message', name: '', container: name };
      this.#add(lineEvidence(this.#reading, citation, how));
      told.add(match.line);
    }
  }

  #symbol(hit: SymbolHit): void {
    const citation = citeDocument(this.index, this.excerpts, hit.document, hit.similarity);
    if (citation === undefined) {
      this.isWhole = false;
      return;
    }
    const evidence = symbolEvidence(this.#reading, hit.document, citation);
    const name = hit.symbol === undefined ? '' : this.index.symbol(hit.symbol).name;
    const text = `${name} ${citation.file_path} ${evidence.said} ${textOf(evidence)}`;
    this.#add({ ...evidence, why: reasons(this.question, hit.exact > 0, text) });
  }

  #item(hit: ItemHit): void {
    const { item } = hit;
    const file = { path: item.file_path, blob: item.blob };
    const lines = this.excerpts.lines(file, item.line_start, item.line_end);
    const isProse = lines !== undefined && lines.length > 1 && prose.test(item.file_path);
    const passage = isProse ? passageOf(this.question, this.weighing.masses, lines) : undefined;
    const line_start = item.line_start + (passage?.from ?? 0);
    const citation = citeItem(this.index, this.excerpts, { ...item, line_start }, hit.similarity);
    if (lines?.[0] === undefined) this.isWhole = false;
    if (citation === undefined) return;
    const evidence = itemEvidence(this.#reading, item, citation, passage?.text);
    const text = `${item.symbol} ${evidence.said} ${textOf(evidence)}`;
    const why = [...evidence.why, ...reasons(this.question, hit.exact > 0, text)];
    this.#add({ ...evidence, why });
  }

  #calls(each: Found): void {
    if (this.#isFull || each.kind === 'item' || each.symbol === undefined) return;
    if (this.#wantsCallers(each)) this.#callers(each, each.symbol);
    else this.#callees(each, each.symbol);
  }

  /** The calls of a function whose names the question speaks of, the most telling first. */
  #callees(hit: SymbolHit, symbol: number): void {
    const best = new Map<string, { call: CallRow; worth: number }>();
    for (const call of this.index.callsFrom(symbol)) {
      const { inside, lookups } = targetsOfCall(this.index, call);
      // What leads nowhere in the code base (a method of some array) explains nothing.
      if (inside.length + lookups.length === 0) continue;
      const worth =
        this.#worth(call.callee) /
        (1 + 0.2 * Math.log2(1 + siteCount(this.index, call.callee) / 4));
      if (worth > (best.get(call.callee)?.worth ?? 0)) best.set(call.callee, { call, worth });
    }
    const calls = [...best.values()]
      .sort((one, other) => other.worth - one.worth)
      .slice(0, callsPerSymbol);
    const name = this.index.symbol(symbol).name;
    for (const { call, worth } of calls) this.#call(hit, name, call, worth);
  }

  #callers(hit: SymbolHit, symbol: number): void {
    const { index } = this;
    const name = index.symbol(symbol).name;
    const sites = this.#sitesOf(symbol);
    const most = Math.min(callersListed, Math.max(1, this.topK - 1));
    const before = this.flow.length;
    for (const call of sites.slice(0, most)) {
      const caller = call.caller < 0 ? index.file(call.file).path : index.symbol(call.caller).name;
      this.#call(hit, caller, call, 1);
    }
    const shown = this.flow.length - before;
    const rest = sites.length - shown;
    if (shown === 0 || rest === 0) return;
    const path = index.file(index.symbol(symbol).file).path;
    this.unsure.push({
      kind: 'sites',
      text: `${name} of ${path} is called at ${count(rest, 'further site')}`,
    });
    const all = { symbol: `${path}#${name}` };
    this.next.push({ operation: 'callers', arguments: all, why: `all ${sites.length} call sites` });
  }

  /** Calls that mean this symbol; when none does, those that leave the shard and may mean it elsewhere. */
  #sitesOf(symbol: number): CallRow[] {
    const { index } = this;
    const row = index.symbol(symbol);
    const isPublic = (id: number): boolean =>
      !index.symbol(id).declaration && index.symbol(id).exported;
    // No call means a declaration: it stands for what is declared.
    const meant = new Set(
      row.declaration ? index.symbolsNamed(row.name).filter(isPublic) : [symbol],
    );
    const sites = index
      .callsTo(row.name)
      .map((call) => ({ call, targets: targetsOfCall(index, call) }));
    const sure = sites.filter(({ targets }) => targets.inside.some((id) => meant.has(id)));
    // A private definition is known in its own file only.
    const mayBeElsewhere = row.exported || row.declaration;
    const open = mayBeElsewhere ? sites.filter(({ targets }) => targets.lookups.length > 0) : [];
    return (sure.length > 0 ? sure : open).map(({ call }) => call);
  }

  #call(hit: SymbolHit, caller: string, call: CallRow, worth: number): void {
    const file = this.index.file(call.file);
    const site = `${file.path}:${call.line}`;
    // A line on which both ends are told is cited once.
    const known = this.flow.find((edge) => edge.site === site && edge.to === call.callee);
    if (known !== undefined || this.#isFull || !this.isWanted(file.path)) return;
    // An edge is at most as relevant as the function it belongs to.
    const similarity = hit.similarity * (0.5 + 0.5 * Math.min(1, worth));
    const edge = { caller, callee: call.callee, file: call.file, line: call.line };
    const citation = citeCall(this.index, this.excerpts, edge, similarity);
    if (citation === undefined) {
      const lines = this.excerpts.lines(file, call.line, call.line);
      if (lines?.[0] === undefined) this.isWhole = false;
      return;
    }
    const how = { kind: 'call', name: call.callee, container: caller };
    const evidence = this.#add(lineEvidence(this.#reading, citation, how));
    this.flow.push(edgeOf(this.index, caller, call, evidence));
  }

  #worth(name: string): number {
    let covered = 0;
    for (const [at, trust] of conceptsIn(this.question, name))
      covered += trust * (this.weighing.masses[at] ?? 0);
    return this.weighing.total === 0 ? 0 : covered / this.weighing.total;
  }

  /** Its id. Nothing is added beyond `topK`. */
  #add(evidence: Unnumbered): number {
    if (this.#isFull) return 0;
    return this.evidence.push({ id: this.evidence.length + 1, ...evidence });
  }
}

function textOf({ excerpt }: Unnumbered): string {
  return excerpt.map(({ text }) => text).join('\n');
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
