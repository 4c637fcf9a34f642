// What was measured, as tables in Markdown.
import { mean, percentile } from '../bench/kernel/figures.mjs';

const kinds = ['function', 'method', 'several definitions', 'interface'];

/** `runs`: `{ name, half, commit, lines, indexMs, definitions, callers, callees, chains }` of each code base. */
export function reportOf(runs) {
  const halves = ['tune', 'hold'].filter((half) => runs.some((run) => run.half === half));
  const groups = [
    ...runs.map((run) => [`${run.name} (${run.half})`, [run]]),
    ...halves.map((half) => [`all of ${half}`, runs.filter((run) => run.half === half)]),
    ['all', runs],
  ];
  const callers = (of, how) => of.flatMap((run) => run.callers.filter((row) => row.how === how));
  const byKind = (how) =>
    halves.flatMap((half) =>
      kinds.map((kind) => {
        const rows = callers(
          runs.filter((run) => run.half === half),
          how,
        );
        return callersRow(
          `${half}: ${kind}`,
          rows.filter((row) => row.kind === kind),
        );
      }),
    );
  return [
    section('Code bases', codeBases(runs)),
    section(
      'Callers, by scoped name',
      table(
        callersHead,
        groups.map(([name, of]) => callersRow(name, callers(of, 'scoped'))),
      ),
    ),
    section('Callers, by scoped name and kind', table(callersHead, byKind('scoped'))),
    section('Callers, by bare name and kind', table(callersHead, byKind('bare'))),
    section(
      'Static callers, by what stands before the dot (scoped name)',
      formsTable(halves.map((half) => [half, runs.filter((run) => run.half === half)])),
    ),
    section(
      'References, by scoped name',
      table(
        referencesHead,
        [
          ...groups.map(([name, of]) => [name, of.flatMap((run) => run.references)]),
          ...halves.flatMap((half) =>
            referenceKinds.map((kind) => [
              `${half}: ${kind}`,
              runs
                .filter((run) => run.half === half)
                .flatMap((run) => run.references)
                .filter((row) => row.kind === kind),
            ]),
          ),
        ]
          .filter(([, rows]) => rows.length > 0)
          .map(([name, rows]) => referencesRow(name, rows)),
      ),
    ),
    section(
      'Callees, by scoped name',
      table(
        calleesHead,
        groups.map(([name, of]) => calleesRow(name, of)),
      ),
    ),
    section(
      'Chains',
      table(
        chainsHead,
        groups.map(([name, of]) => chainsRow(name, of)),
      ),
    ),
  ].join('\n\n');
}

const callersHead = [
  ...['', 'symbols', 'static edges', 'dispatch edges', 'precision', 'recall, static'],
  ...['recall, dispatch', 'recall', 'recall, per symbol', 'false noes', 'true noes', 'possible'],
  'possible, median',
  ...['invented', 'unjudged', 'wrong holder', 'unknown symbols', 'ms'],
];

function callersRow(name, rows) {
  const sum = (of) => rows.reduce((total, row) => total + of(row), 0);
  const found = (via) => sum((row) => row.found[via]);
  const wanted = (via) => sum((row) => row.wanted[via]);
  const right = found('static') + found('dispatch') + found('foreign');
  const invented = sum((row) => row.invented.length);
  const called = rows.filter((row) => wantedOf(row) > 0);
  const uncalled = rows.filter((row) => wantedOf(row) === 0 && !row.isOpen);
  return [
    name,
    rows.length,
    wanted('static'),
    wanted('dispatch'),
    share(right, right + invented),
    share(found('static'), wanted('static')),
    share(found('dispatch'), wanted('dispatch')),
    share(found('static') + found('dispatch'), wanted('static') + wanted('dispatch')),
    figure(mean(called.map((row) => (row.found.static + row.found.dispatch) / wantedOf(row)))),
    `${called.filter((row) => row.isNone).length} of ${called.length}`,
    `${uncalled.filter((row) => row.isNone).length} of ${uncalled.length}`,
    `${sum((row) => row.possible.true)} of ${sum((row) => row.possible.sites)}`,
    medianOf(rows.map((row) => row.possible.sites).filter((sites) => sites > 0)),
    invented,
    sum((row) => row.unjudged),
    sum((row) => row.wrongHolder),
    rows.filter((row) => !row.isKnown).length,
    milliseconds(rows),
  ];
}

/** Of those that have any. */
function medianOf(numbers) {
  return numbers.length === 0 ? '–' : percentile(numbers, 50);
}

function wantedOf({ wanted }) {
  return wanted.static + wanted.dispatch;
}

const referenceKinds = ['constant', 'variable', 'attribute', 'type', 'function passed on'];
const referencesHead = [
  ...['', 'symbols', 'lines', 'recall', 'precision', 'invented', 'false noes', 'unknown symbols'],
  'ms',
];

function referencesRow(name, rows) {
  const sum = (of) => rows.reduce((total, row) => total + of(row), 0);
  const [found, wanted] = [sum((row) => row.found), sum((row) => row.wanted)];
  const invented = sum((row) => row.invented.length);
  const used = rows.filter((row) => row.wanted > 0);
  return [
    ...[name, rows.length, wanted, share(found, wanted), share(found, found + invented), invented],
    `${used.filter((row) => row.isNone).length} of ${used.length}`,
    ...[rows.filter((row) => !row.isKnown).length, milliseconds(rows)],
  ];
}

const calleesHead = ['', 'functions', 'static edges', 'recall', 'precision', 'invented', 'ms'];

function calleesRow(name, runs) {
  const rows = runs.flatMap((run) => run.callees);
  const sum = (of) => rows.reduce((total, row) => total + of(row), 0);
  const invented = sum((row) => row.invented.length);
  const right = sum((row) => row.right);
  return [
    ...[name, rows.length, sum((row) => row.wanted)],
    share(
      sum((row) => row.found),
      sum((row) => row.wanted),
    ),
    ...[share(right, right + invented), invented, milliseconds(rows)],
  ];
}

const chainsHead = [
  ...[
    '',
    'static chains found',
    'chains with dispatch found',
    'no way, rightly',
    'links',
    'invented',
    'unjudged',
  ],
  ...['ms', 'ms, 95 %', 'ms, most'],
];

function chainsRow(name, runs) {
  const rows = runs.flatMap((run) => run.chains);
  const apart = runs.flatMap((run) => run.apart);
  const sum = (of) => [...rows, ...apart].reduce((total, row) => total + of(row), 0);
  const found = (crosses) => {
    const those = rows.filter((row) => row.crosses === crosses);
    return `${those.filter((row) => row.isFound).length} of ${those.length}`;
  };
  return [
    ...[name, found(false), found(true)],
    `${apart.filter((row) => !row.isFound).length} of ${apart.length}`,
    sum((row) => row.links),
    ...[sum((row) => row.invented.length), sum((row) => row.unjudged)],
    ...[milliseconds(rows), milliseconds(rows, 95), milliseconds(rows, 100)],
  ];
}

function formsTable(halves) {
  const found = halves.map(([, runs]) => {
    const forms = new Map();
    const rows = runs.flatMap((run) => run.callers.filter((row) => row.how === 'scoped'));
    for (const { form, isFound } of rows.flatMap((row) => row.forms)) {
      const [found_, wanted] = forms.get(form) ?? [0, 0];
      forms.set(form, [found_ + (isFound ? 1 : 0), wanted + 1]);
    }
    return forms;
  });
  const wantedOfForm = (form) => found.reduce((sum, forms) => sum + (forms.get(form)?.[1] ?? 0), 0);
  const forms = [...new Set(found.flatMap((each) => [...each.keys()]))];
  forms.sort((one, other) => wantedOfForm(other) - wantedOfForm(one));
  return table(
    ['receiver', ...halves.flatMap(([half]) => [`${half}: edges`, `${half}: recall`])],
    forms.map((form) => [
      form,
      ...found.flatMap((each) => {
        const [right, wanted] = each.get(form) ?? [0, 0];
        return [wanted, share(right, wanted)];
      }),
    ]),
  );
}

function codeBases(runs) {
  return table(
    ['', 'half', 'language', 'commit', 'lines', 'definitions', 'index, s', 'missing libraries'],
    runs.map(({ name, half, language, commit, lines, definitions, indexMs, missing }) => [
      ...[name, half, language, commit.slice(0, 12), lines, definitions],
      ...[(indexMs / 1_000).toFixed(1), missing],
    ]),
  );
}

function milliseconds(rows, percent = 50) {
  return rows.length === 0
    ? ''
    : percentile(
        rows.map(({ ms }) => ms),
        percent,
      ).toFixed(1);
}

function share(part, whole) {
  return figure(part / whole);
}

function figure(value) {
  return Number.isFinite(value) ? value.toFixed(3).replace(/^0\./, '.') : '–';
}

function section(title, text) {
  return `## ${title}\n\n${text}`;
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    line(head.map((_, at) => (at === 0 ? '---' : '--:'))),
    ...rows.map(line),
  ].join('\n');
}
