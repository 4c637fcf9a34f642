import type { Node } from 'web-tree-sitter';
import type { SymbolDraft } from '../../draft.js';
import type { Found, ScopedMiner } from '../../scoped-draft.js';
import { isRecord, templateStart } from './cpp-declarator.js';
import type { CppScopes } from './cpp-scopes.js';

/** Notes definitions where they stand. */
export class CppDefiner {
  /** Whether members that come now are for others: `class` begins private, everything else public. */
  readonly #access = new Map<string, boolean>();

  constructor(
    readonly draft: ScopedMiner['draft'],
    readonly scopes: CppScopes,
  ) {}

  access(isPublic: boolean): void {
    this.#access.set(this.here(), isPublic);
  }

  /** Where it stands. */
  placed(symbol: SymbolDraft, path: string): void {
    if (path !== '') this.draft.type(symbol, 'within', path);
    if (this.scopes.isHidden) this.draft.type(symbol, 'mark', 'hidden');
  }

  define(node: Node, found: Found): SymbolDraft {
    return this.draft.define(node, { ...found, ...templateStart(node) });
  }

  open(node: Node, found: Found): SymbolDraft {
    return this.draft.open(node, { ...found, ...templateStart(node) });
  }

  isVisible(): boolean {
    const { scope } = this.draft;
    if (this.draft.isLocal || scope?.kind === 'hidden') return false;
    if (!isRecord(scope?.kind)) return scope?.symbol?.exported ?? true;
    return (this.#access.get(this.here()) ?? true) && (scope?.symbol?.exported ?? true);
  }

  here(): string {
    const { scope } = this.draft;
    return `${scope?.name ?? ''} ${scope?.end ?? 0}`;
  }
}
