// What the type checker of TypeScript says of a tree.
import ts from 'typescript';
import { Definitions } from './definitions.mjs';
import { programOf } from './program.mjs';
import { Sites } from './sites.mjs';
import { Uses } from './uses.mjs';

/** Facts as in ../README.md, of TypeScript and JavaScript. */
export async function factsOf(root) {
  const { program, files } = await programOf(root);
  const checker = program.getTypeChecker();
  const sources = files.map((each) => program.getSourceFile(each)).filter(Boolean);
  const definitions = new Definitions(root, checker);
  for (const each of sources) definitions.read(each);
  const implementations = definitions.implementations();
  const sites = new Sites(definitions, checker);
  for (const each of sources) sites.read(each);
  const uses = new Uses(definitions, checker);
  for (const each of sources) uses.note(each);
  for (const each of sources) uses.read(each);
  return [
    ...sources.map((each) => ({ is: 'file', path: definitions.pathOf(each) })),
    ...definitions.all(),
    ...sites.all,
    ...uses.all(),
    ...implementations,
    { is: 'summary', packages: 1, missing: missingIn(program, sources), errors: 0 },
  ];
}

/** Names of libraries that are imported and not there. */
function missingIn(program, sources) {
  const missing = new Set();
  for (const source of sources)
    for (const each of source.imports ?? [])
      if (
        !each.text.startsWith('.') &&
        !program.getResolvedModule(source, each.text, ts.ModuleKind.None)?.resolvedModule &&
        !program.getTypeChecker().getSymbolAtLocation(each)
      )
        missing.add(each.text);
  return missing.size;
}
