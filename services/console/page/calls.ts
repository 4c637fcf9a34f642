import type { ask, queryLattice } from '../../../src/operations/ask.js';
import type { symbol } from '../../../src/operations/explore/symbol.js';
import type {
  callees,
  callers,
  implementations,
  references,
} from '../../../src/operations/graph.js';
import type { measures } from '../../../src/operations/measures.js';
import type { latticePath, topology } from '../../../src/operations/topology.js';
import type { Measures } from '../../../src/pgc/analyse/measures.js';
import type { TreeState } from '../../../src/pgc/plan/tree-state.js';
import type {
  Answer,
  CalleesAnswer,
  CallersAnswer,
  ImplementationsAnswer,
  TopologyAnswer,
} from '../../../src/pgc/shapes.js';
import type { Explored } from '../../../src/render/explored.js';
import type { ReferencesAnswer } from '../../../src/render/sites.js';
import type { OpsCalls, Row } from './ops-calls.js';

/** Of which states of their trees an answer is. */
export interface Dated {
  trees?: TreeState[];
}

/** The operations that the page calls, by name. */
export interface Calls extends OpsCalls {
  ask: Row<typeof ask, Answer & Dated>;
  query_lattice: Row<typeof queryLattice, Answer & Dated>;
  symbol: Row<typeof symbol, Explored & Dated>;
  callers: Row<typeof callers, CallersAnswer>;
  callees: Row<typeof callees, CalleesAnswer>;
  references: Row<typeof references, ReferencesAnswer>;
  implementations: Row<typeof implementations, ImplementationsAnswer>;
  topology: Row<typeof topology, TopologyAnswer>;
  measures: Row<typeof measures, Measures>;
  lattice_path: Row<typeof latticePath, { path: string[] }>;
}
