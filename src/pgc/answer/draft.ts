import { callSimilarity } from './cited-calls.js';
import { targetsOfCall } from '../bind/call-graph.js';
import { citeCall, citeDocument, citeItem, citeMessage, type Excerpts } from './citation.js';
import {
  bodyExcerpt,
  edgeOf,
  itemEvidence,
  lineEvidence,
  reasons,
  symbolEvidence,
  type Reading,
  type Unnumbered,
} from './evidence.js';
import { subjectOf } from './evidence-line.js';
import { ReportMessages } from '../search/locate/messages.js';
import { chainThrough } from './call-chain.js';
import {
  calleeRows,
  callerRow,
  implementationRow,
  shardRowsMax,
  withRows,
  type GraphRows,
} from './graph-rows.js';
import { planned } from './plans/plan.js';
import { passageOf } from './passage.js';
import { isSentence } from '../search/question/asked-symbol.js';
import { conceptsIn, type Question } from '../search/question/question.js';
import { tellingShare } from '../search/retrieve.js';
import type { Weighing } from '../search/rank/weighing.js';
import type { Found } from '../search/search.js';
import {
  askedSymbols,
  callersByName,
  callersFor,
  implementationsFor,
  referenceOf,
  type AskedSymbol,
  type SymbolHit,
} from './relations.js';
import type { CallSite, Evidence, FlowEdge, NextStep, OverlayName, Unsure } from '../shapes.js';
import { isFunction } from '../format/facts.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';
import { hasRole, saidRoleAt } from '../source/role.js';

/** Calls of one symbol that lead to what is not shown. */
const furtherCallsMax = 2;

/** Files whose sections say more than their first sentence. */
const prose = /(?:\.(?:md|markdown|rst|txt|adoc)|(?:^|\/)[A-Z]+)$/;
/** Hits whose strings are compared with the messages of a question, and lines of each. */
const messageHitsMax = 24;
const messageLinesMax = 600;
/** That a string of the code is the message is hardly ever chance. */
const printedSimilarity = 0.9;

type ItemHit = Extract<Found, { kind: 'item' }>;

/** One answer in the making. */
export class AnswerDraft {
  readonly evidence: Evidence[] = [];
  readonly flow: FlowEdge[] = [];
  readonly unsure: Unsure[] = [];
  readonly next: NextStep[] = [];
  /** Files of evidence that is left out: they have changed since they were indexed, and git does not keep that content. */
  readonly changed = new Set<string>();
  readonly #reading: Reading;
  /** The evidence that shows each symbol. */
  readonly #shown = new Map<number, number>();

  constructor(
    readonly index: ShardIndex,
    readonly excerpts: Excerpts,
    readonly question: Question,
    readonly weighing: Weighing,
    readonly topK: number,
    readonly overlays: ReadonlySet<OverlayName>,
    /** Of what may be cited; empty: any. */
    readonly roles: readonly string[] = [],
  ) {
    this.#reading = { index, excerpts, sought: { question, masses: weighing.masses } };
  }

  /** What of these hits an answer shows, where the search alone decides it. */
  chosen(ranked: readonly Found[]): Found[] {
    return this.#choose(ranked).chosen;
  }

  /** `telling`: of all that may be cited, what is not far behind the best. */
  #choose(ranked: readonly Found[]): { found: Found[]; telling: Found[]; chosen: Found[] } {
    const ordered = this.#planned(ranked);
    const found = ordered.filter((each) => this.#isIn(each));
    const best = found[0]?.similarity ?? 0;
    const telling = found.filter((each) => each.similarity >= tellingShare * best);
    const distinct = this.#distinct(telling);
    // Who types a few words looks for a place: another file tells more than the third function of one.
    const isSpread = this.question.isBrief && ordered === ranked;
    const chosen = (isSpread ? this.#spread(distinct) : distinct).slice(0, this.topK);
    return { found, telling, chosen };
  }

  /** Best first. `isFound`: they answer; otherwise only what is proven is written, and they beside it. */
  write(ranked: readonly Found[], isFound = true): void {
    const { found, telling, chosen: all } = this.#choose(ranked);
    const isShown = (each: Found): boolean => each.kind === 'item' || this.overlays.has('O1');
    if (this.overlays.has('O1')) this.#messages(telling);
    const chosen = isFound || this.evidence.length > 0 ? all : [];
    const asked = this.#asked(found);
    if (asked.length === 0) this.#callersOfOthers();
    const isAnswered = asked.length > 0 && this.overlays.has('O3') && this.#related(asked);
    const isOther = (each: Found): boolean =>
      each.kind !== 'symbol' || asked.every(({ symbol }) => symbol !== each.document);
    for (const each of asked) this.#defined(each);
    for (const each of isAnswered ? [] : chosen.filter(isShown).filter(isOther)) this.#cited(each);
    if (this.overlays.has('O1')) this.#joined();
    else if (!isAnswered) for (const each of chosen) this.#calls(each);
    this.#suggest(chosen);
  }

  /** A plan puts symbols first: it is for who looks for symbols. */
  #planned(ranked: readonly Found[]): readonly Found[] {
    if (!this.overlays.has('O1') && !this.overlays.has('O3')) return ranked;
    return planned(this.index, this.excerpts, this.question, this.weighing, ranked);
  }

  /** What a plan adds, no search has filtered. */
  #isIn(each: Found): boolean {
    return each.kind === 'item' || this.#isOfRole(each.file, each.symbol ?? -1);
  }

  /** `symbol`: what it stands in; below zero: in none. A test may stand in a file of the code. */
  #isOfRole(file: number, symbol: number): boolean {
    if (this.roles.length === 0) return true;
    return hasRole({ role: saidRoleAt(this.index, file, symbol) }, this.roles);
  }

  /** What the graph knows of the function that the question names, and the answer does not show. */
  #suggest(chosen: readonly Found[]): void {
    const [named] = askedSymbols(this.index, this.question, chosen).asked;
    if (named === undefined) return;
    const row = this.index.symbol(named.symbol);
    if (!isFunction(row.kind)) return;
    const symbol = referenceOf(this.index, named.symbol);
    if (this.next.every(({ operation }) => operation !== 'callers'))
      this.next.push({ operation: 'callers', arguments: { symbol }, why: 'every call site' });
    const why = 'all that a change of it affects';
    this.next.push({ operation: 'blast-radius', arguments: { symbol }, why });
  }

  get #isFull(): boolean {
    return this.evidence.length >= this.topK;
  }

  #asked(found: readonly Found[]): AskedSymbol[] {
    const { asks, intent, text } = this.question;
    if ((asks === undefined && intent !== 'usage') || !isSentence(text)) return [];
    const { asked, others } = askedSymbols(this.index, this.question, found);
    if (others > 0) {
      const text = `the name means ${count(others, 'further definition')}, of which nothing is said here`;
      this.unsure.push({ kind: 'sites', text });
    }
    return asked;
  }

  /** Who asks for the callers of what another shard defines gets those that stand here. */
  #callersOfOthers(): void {
    const { asks } = this.question;
    if ((asks !== 'callers' && asks !== 'chain') || !this.overlays.has('O3')) return;
    const all = callersByName(this.index, this.question);
    const above = [];
    for (const { name, callers } of all) {
      const most = Math.max(1, Math.floor((this.topK - 1) / all.length));
      for (const site of callers.slice(0, most))
        this.#caller({ similarity: callSimilarity }, name, '', site);
      const rows = callers.filter((site) => hasRole(site, this.roles));
      above.push(...rows.map((site) => callerRow(site, name, '')));
    }
    if (all.length > 0) this.#rows({ above, below: [] });
  }

  /** The flow is what the graph knows. */
  #rows(rows: GraphRows): void {
    const { flow, left } = withRows(this, rows, { most: shardRowsMax, besides: false });
    this.flow.splice(0, Infinity, ...flow);
    if (left > 0)
      this.unsure.push({ kind: 'sites', text: `the graph knows ${count(left, 'further place')}` });
  }

  #defined({ hit, symbol }: AskedSymbol): void {
    if (this.overlays.has('O1') && !this.#shown.has(symbol)) this.#symbol(hit);
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

  /** The best of each file, then the others. */
  #spread(found: readonly Found[]): Found[] {
    const seen = new Set<string>();
    const isFirst = found.map((each) => {
      const path = each.kind === 'item' ? each.item.file_path : this.index.file(each.file).path;
      const isNew = !seen.has(path);
      seen.add(path);
      return isNew;
    });
    return [...found.filter((_, at) => isFirst[at]), ...found.filter((_, at) => !isFirst[at])];
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

  #symbol(hit: SymbolHit, why: string[] = []): void {
    const citation = citeDocument(this.index, this.excerpts, hit.document, hit.similarity);
    if (citation === undefined) {
      const isFile = hit.document >= this.index.symbolCount;
      const file = isFile
        ? hit.document - this.index.symbolCount
        : this.index.symbol(hit.document).file;
      this.changed.add(this.index.file(file).path);
      return;
    }
    const evidence = symbolEvidence(this.#reading, hit.document, citation);
    const name = hit.symbol === undefined ? '' : this.index.symbol(hit.symbol).name;
    const text = `${name} ${citation.file_path} ${evidence.said} ${textOf(evidence)}`;
    const reason = [...why, ...reasons(this.question, hit.exact > 0, text)];
    const id = this.#add({ ...evidence, why: reason });
    if (hit.symbol !== undefined && id > 0) this.#shown.set(hit.symbol, id);
  }

  /** How what is shown works together, and where it leads: the calls among it, and those of which the question speaks. */
  #joined(): void {
    if (!this.overlays.has('O3')) return;
    for (const [symbol, id] of this.#shown) {
      const caller = this.index.symbol(symbol).name;
      const known = new Set<string>([caller]);
      const calls = this.index
        .callsFrom(symbol)
        .map((call) => ({ call, targets: targetsOfCall(this.index, call) }))
        .filter(({ targets }) => targets.inside.length + targets.lookups.length > 0)
        .map(({ call, targets }) => {
          const target = targets.inside.find((each) => each !== symbol && this.#shown.has(each));
          return { call, target, worth: target === undefined ? this.#worth(call.callee) : 1 };
        })
        .filter(({ worth }) => worth > 0)
        .sort((one, other) => other.worth - one.worth);
      let further = 0;
      const told: number[] = [];
      for (const { call, target } of calls) {
        if (known.has(call.callee) || this.#isTold(call)) continue;
        known.add(call.callee);
        if (target === undefined && (further += 1) > furtherCallsMax) break;
        this.flow.push(edgeOf(this.index, caller, call, id, target));
        told.push(call.line);
      }
      // What the flow names is seen: where a function leads on decides more than the words around it.
      const evidence = this.evidence[id - 1];
      const isSeen = (site: number): boolean =>
        evidence?.excerpt.some(({ line }) => line === site) === true;
      if (evidence !== undefined && !told.every(isSeen))
        evidence.excerpt = bodyExcerpt(this.#reading, symbol, evidence, told);
    }
  }

  #isTold({ file, line, callee }: CallRow): boolean {
    const site = `${this.index.file(file).path}:${line}`;
    return this.flow.some((each) => each.site === site && each.to === callee);
  }

  /** How much of the question a name speaks of. */
  #worth(name: string): number {
    let covered = 0;
    for (const [at, trust] of conceptsIn(this.question, name))
      covered += trust * (this.weighing.masses[at] ?? 0);
    return this.weighing.total === 0 ? 0 : covered / this.weighing.total;
  }

  #item(hit: ItemHit): void {
    const { item } = hit;
    const file = { path: item.file_path, blob: item.blob };
    const lines = this.excerpts.lines(file, item.line_start, item.line_end);
    const isProse = lines !== undefined && lines.length > 1 && prose.test(item.file_path);
    const passage = isProse ? passageOf(this.question, this.weighing.masses, lines) : undefined;
    const line_start = item.line_start + (passage?.from ?? 0);
    const citation = citeItem(this.index, this.excerpts, { ...item, line_start }, hit.similarity);
    if (lines?.[0] === undefined) this.changed.add(item.file_path);
    if (citation === undefined) return;
    const evidence = itemEvidence(this.#reading, item, citation, passage?.text);
    const text = `${item.symbol} ${evidence.said} ${textOf(evidence)}`;
    const why = [...evidence.why, ...reasons(this.question, hit.exact > 0, text)];
    this.#add({ ...evidence, why });
  }

  /** What the graph knows of them; whether it knows anything. Who asks for it gets it first, else the definitions come first. */
  #related(asked: readonly AskedSymbol[]): boolean {
    const { asks } = this.question;
    if (asks !== 'callers' && asks !== 'implementations')
      for (const each of asked) this.#defined(each);
    const before = this.evidence.length;
    const most = Math.max(1, Math.floor((this.topK - asked.length) / asked.length));
    const all = asked.map((each) => {
      if (asks === 'implementations') return this.#implementations(each, most);
      if (asks === 'callees') return this.#allCallees(each, most);
      return asks === 'chain' ? this.#chain(each, most) : this.#callers(each, most);
    });
    this.#rows({ above: all.flatMap((its) => its.above), below: all.flatMap((its) => its.below) });
    // That there is nothing is an answer, too: of what, its definition shows.
    const isNothing = this.evidence.length === before;
    if (isNothing && !this.overlays.has('O1')) for (const { hit } of asked) this.#symbol(hit);
    return this.evidence.length > before || (asks === 'callees' && before > 0);
  }

  #chain({ hit, symbol, reference }: AskedSymbol, most: number): GraphRows {
    const links = chainThrough(this.index, symbol);
    const nearest = links.toSorted((one, other) => Math.abs(one.level) - Math.abs(other.level));
    const cited = new Set(nearest.slice(0, most));
    const edges = links.map((link) => {
      const { caller, call, target } = link;
      const { name } = this.index.symbol(caller);
      const edge = { caller: name, callee: call.callee, file: call.file, line: call.line };
      if (cited.has(link)) this.#sited(edge, hit.similarity, 'call');
      return edgeOf(this.index, name, call, 0, target);
    });
    const why = 'every call that it makes';
    this.next.push({ operation: 'callees', arguments: { symbol: reference }, why });
    const from = links.findIndex(({ level }) => level > 0);
    const middle = from < 0 ? edges.length : from;
    return { above: edges.slice(0, middle), below: edges.slice(middle) };
  }

  /** In the order of the text; calls of libraries say nothing of the code base, and are told without their lines. */
  #allCallees({ hit, symbol, reference }: AskedSymbol, most: number): GraphRows {
    const { index } = this;
    const { name } = index.symbol(symbol);
    const calls = index.callsFrom(symbol).filter((call) => {
      const { inside, lookups } = targetsOfCall(index, call);
      return inside.length + lookups.length > 0;
    });
    if (calls.length === 0)
      this.unsure.push({
        kind: 'sites',
        text: `${name} is not known to call anything of the code base`,
      });
    for (const call of calls.slice(0, most)) this.#call(hit, name, call, 1);
    const why = 'every call that it makes';
    this.next.push({ operation: 'callees', arguments: { symbol: reference }, why });
    return {
      above: [],
      below: calleeRows(index, symbol, this.roles),
    };
  }

  /** Where calls alone are wanted: those of the hits. */
  #calls(each: Found): void {
    if (each.kind === 'item' || each.symbol === undefined || !this.overlays.has('O3')) return;
    const { name } = this.index.symbol(each.symbol);
    for (const call of this.index.callsFrom(each.symbol)) {
      const { inside, lookups } = targetsOfCall(this.index, call);
      // What leads nowhere in the code base (a method of some array) explains nothing.
      if (inside.length + lookups.length > 0) this.#call(each, name, call, 1);
    }
  }

  #implementations({ hit, symbol, reference }: AskedSymbol, most: number): GraphRows {
    const { index } = this;
    const file = (id: number): number => index.fileOf(id);
    const all = implementationsFor(this.index, reference).filter((each) =>
      this.#isOfRole(file(each), each),
    );
    const { name } = index.symbol(symbol);
    for (const each of all.slice(0, most)) {
      const its = { ...hit, exact: 0, document: each, symbol: each, file: file(each) };
      this.#symbol(its, [`implements ${name}`]);
    }
    const rows = all.map((each) => {
      const { name: its, container, line_start: line, file: in_ } = index.symbol(each);
      const place = { symbol: its, container, line, file_path: index.file(in_).path };
      return implementationRow({ ...place, agent: index.info.agent }, name);
    });
    const why = all.length === 1 ? 'the one implementation' : `all ${all.length} implementations`;
    if (all.length > 0)
      this.next.push({ operation: 'implementations', arguments: { symbol: reference }, why });
    return { above: rows, below: [] };
  }

  #callers({ hit, symbol, reference }: AskedSymbol, most: number): GraphRows {
    const { index } = this;
    const { name, line_start, file, kind } = index.symbol(symbol);
    const definition = `${index.file(file).path}:${line_start}`;
    const isCallable = /^(?:function|method|macro)$/.test(kind);
    if (!isCallable)
      this.next.push({
        operation: 'references',
        arguments: { symbol: reference },
        why: 'every use',
      });
    const { callers, possible } = callersFor(index, reference);
    for (const site of callers.slice(0, most)) this.#caller(hit, name, definition, site);
    const left = [
      ...(callers.length + possible > 0 || !isCallable
        ? []
        : [`is called nowhere in ${index.info.alias}`]),
      ...(possible === 0 ? [] : [`may be called at ${count(possible, 'site')} that prove nothing`]),
    ];
    if (left.length > 0)
      this.unsure.push({ kind: 'sites', text: `${name} of ${definition} ${left.join(', and ')}` });
    const why = callers.length < 2 ? 'every call site' : `all ${callers.length} call sites`;
    if (isCallable || callers.length > 0)
      this.next.push({ operation: 'callers', arguments: { symbol: reference }, why });
    const rows = callers.filter((site) => hasRole(site, this.roles));
    return { above: rows.map((site) => callerRow(site, name, definition)), below: [] };
  }

  /** Whether it is shown. */
  #caller(
    hit: Pick<SymbolHit, 'similarity'>,
    callee: string,
    definition: string,
    site: CallSite,
  ): boolean {
    const { index } = this;
    const file = index.fileAt(site.file_path);
    if (file === undefined || !hasRole(site, this.roles)) return false;
    const caller = site.symbol === '' ? site.file_path : site.symbol;
    // What a field or a parameter is set to is not called there.
    const kind = site.kind === 'slot' ? 'slot' : 'call';
    const edge = { caller, callee, file, line: site.line };
    const evidence = this.#sited(edge, hit.similarity, kind);
    if (evidence === undefined) return false;
    if (kind === 'slot') return true;
    this.flow.push({
      ...{ from: caller, to: callee, site: `${site.file_path}:${site.line}`, kind },
      certainty: site.via === '' ? 'exact' : 'dispatch',
      ...{ agent: index.info.agent, evidence, definition },
    });
    return true;
  }

  #call(hit: SymbolHit, caller: string, call: CallRow, worth: number): void {
    if (!this.#isOfRole(call.file, call.caller)) return;
    // An edge is at most as relevant as the function it belongs to.
    const similarity = hit.similarity * (0.5 + 0.5 * Math.min(1, worth));
    const edge = { caller, callee: call.callee, file: call.file, line: call.line };
    const evidence = this.#sited(edge, similarity, 'call');
    if (evidence !== undefined) this.flow.push(edgeOf(this.index, caller, call, evidence));
  }

  /** The id of the evidence; undefined: it is not shown. */
  #sited(
    edge: Parameters<typeof citeCall>[2],
    similarity: number,
    kind: string,
  ): number | undefined {
    const { caller, callee, line } = edge;
    const file = this.index.file(edge.file);
    const site = `${file.path}:${line}`;
    // A line on which both ends are told is cited once.
    if (this.flow.some((each) => each.site === site && each.to === callee) || this.#isFull)
      return undefined;
    const citation = citeCall(this.index, this.excerpts, edge, similarity);
    if (citation === undefined) {
      if (this.excerpts.lines(file, line, line)?.[0] === undefined) this.changed.add(file.path);
      return undefined;
    }
    const how = { kind, name: callee, container: caller };
    const evidence = lineEvidence(this.#reading, citation, how);
    return this.#add({ ...evidence, text: subjectOf(evidence) });
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
