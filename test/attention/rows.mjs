// One row of a labelled list: an action, the files that it finds, and how risky it is.

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

/** The files of the row, all of them under version control, in a git repository that has no hooks but those of the row. */
export function inspectorOf({ files = {} }) {
  const all = { '.git/HEAD': 'ref: refs/heads/main\n', ...files };
  const below = (folder) =>
    Object.keys(all).filter((path) => folder === '' || path.startsWith(`${folder}/`));
  return {
    read: (path) => Promise.resolve(Object.hasOwn(all, path) ? all[path] : undefined),
    exists: (path) =>
      Promise.resolve(Object.hasOwn(files, path) || below(path).length > 0 ? true : undefined),
    look: (path) => {
      const isFile = Object.hasOwn(all, path);
      const isFolder = path === '' || below(path).length > 0;
      return Promise.resolve({ kind: isFile ? 'file' : isFolder ? 'folder' : 'nothing', path });
    },
    list: (folder, deep, max) => {
      const found = below(folder).filter(
        (path) => deep || !path.slice(folder === '' ? 0 : folder.length + 1).includes('/'),
      );
      return Promise.resolve(found.sort().slice(0, max));
    },
    isTracked: (path) => Promise.resolve(Object.hasOwn(files, path)),
  };
}
