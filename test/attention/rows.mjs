// One row of a labelled list: an action, the files that it finds, and what is to be said of it.

export function rowsOf(text) {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

export function actionOf({
  runner = 'command',
  argv,
  cwd = '',
  env = {},
  stdin = '',
  data = [],
  scope = [],
}) {
  return { runner, argv, cwd, env, stdin, read_only: false, idempotency_key: '', data, scope };
}

/** The files of the row, all of them under version control. */
export function inspectorOf({ files = {} }) {
  return {
    read: (path) => Promise.resolve(Object.hasOwn(files, path) ? files[path] : undefined),
    list: (folder, deep, max) =>
      Promise.resolve(
        Object.keys(files)
          .filter((path) => folder === '' || path.startsWith(`${folder}/`))
          .filter(
            (path) => deep || !path.slice(folder === '' ? 0 : folder.length + 1).includes('/'),
          )
          .sort()
          .slice(0, max),
      ),
    isTracked: (path) => Promise.resolve(Object.hasOwn(files, path)),
  };
}
