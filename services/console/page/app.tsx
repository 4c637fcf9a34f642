import type { ComponentChildren, ComponentType, JSX } from 'preact';
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import { faultOf, refusedLink, session, signOut, treeAsked, type Fault } from './call.js';
import { chordMs, strokeOf } from './keys.js';
import { bus, listen } from './live.js';
import { firstPage, pages, type Page } from './pages.js';
import { Dialog } from './parts/dialog.js';
import { ErrorBox, Loading } from './parts/states.js';
import { about, linkTo, type PageProps } from './address.js';
import { followLinks, go, here } from './route.js';
import { nextTheme, theme } from './theme.js';

export function App(): JSX.Element | null {
  const its = session.value;
  if (its === undefined) return null;
  return its === null ? <SignIn /> : <Frame />;
}

function SignIn(): JSX.Element {
  return (
    <main class="sign-in">
      <img src="/icon.svg" alt="" width="40" height="40" />
      <h1>You are not signed in</h1>
      {refusedLink.value !== undefined && <ErrorBox fault={refusedLink.value} />}
      <p>
        A link to the console works once, and a session ends after a while. For a new link run, on
        the machine of the console:
      </p>
      <pre>sigma console --link</pre>
      <p class="dim">Open the link that it prints. It holds a token, so pass it on to no one.</p>
    </main>
  );
}

function Frame(): JSX.Element {
  const [isHelp, setHelp] = useState(false);
  useEffect(listen, []);
  useEffect(() => {
    // What opens a link elsewhere begins with a press.
    const pressed = ['click', 'mousedown'] as const;
    for (const each of pressed) document.addEventListener(each, followLinks);
    return () => {
      for (const each of pressed) document.removeEventListener(each, followLinks);
    };
  }, []);
  useKeys(() => setHelp(true));
  const route = here.value;
  const name = route.page === '' ? firstPage : route.page;
  const page = pages.find((each) => each.name === name);
  const place = [name, ...route.rest].join('/');
  const shown = useRef(place);
  useEffect(() => {
    // Who uses keys goes on where the new page begins, not where the old one was left.
    if (shown.current !== place) document.getElementById('content')?.focus({ preventScroll: true });
    shown.current = place;
    // A narrow navigation scrolls.
    document
      .querySelector('nav [aria-current=page]')
      ?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [place]);
  useEffect(() => {
    document.title = `${page?.title ?? 'Not found'} · Sigma console`;
  }, [page]);
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Navigation name={name} onHelp={() => setHelp(true)} />
      <div class="content">
        <BusBanner />
        <main id="content" tabIndex={-1}>
          {page === undefined ? <NotFound /> : <Shown key={page.name} page={page} route={route} />}
        </main>
      </div>
      {isHelp && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}

function Navigation({ name, onHelp }: { name: string; onHelp: () => void }): JSX.Element {
  const its = session.value;
  return (
    <header class="side">
      <a class="brand" href="/">
        <img src="/icon.svg" alt="" width="20" height="20" /> Sigma
      </a>
      {name !== 'ask' && <QuickSearch />}
      <TreeChoice />
      <nav aria-label="Pages">
        {pages
          .filter(({ key }) => key !== undefined)
          .map((each) => (
            <a
              key={each.name}
              href={linkTo(each.name)}
              aria-current={each.name === name ? 'page' : undefined}
            >
              {each.title}
              <kbd aria-hidden="true">g {each.key}</kbd>
            </a>
          ))}
      </nav>
      <div class="side-end">
        <BusDot />
        {its?.read_only === true && <span class="badge">read only</span>}
        <span class="dim person" title={`Sigma ${its?.version ?? ''}`}>
          {its?.person}
        </span>
        <button
          type="button"
          class="quiet"
          onClick={nextTheme}
          title="Switch between light, dark and the system’s colours"
        >
          Colours: {theme.value}
        </button>
        <button type="button" class="quiet keys-button" onClick={onHelp} title="Keys ( ? )">
          Keys
        </button>
        <button type="button" class="quiet" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </header>
  );
}

function QuickSearch(): JSX.Element {
  const [question, setQuestion] = useState('');
  return (
    <form
      role="search"
      aria-label="Ask"
      class="quick"
      onSubmit={(event) => {
        event.preventDefault();
        if (question.trim() !== '') go(linkTo('ask', [], { q: question.trim() }));
      }}
    >
      <input
        type="search"
        data-search
        aria-label="Ask the code base"
        placeholder="Ask…  ( / )"
        value={question}
        onInput={({ currentTarget }) => setQuestion(currentTarget.value)}
      />
    </form>
  );
}

/** Of several indexed trees the one that questions are about. */
function TreeChoice(): JSX.Element | null {
  const trees = session.value?.trees ?? [];
  if (trees.length < 2) return null;
  return (
    <select
      aria-label="Code base"
      title="The code base that questions are about"
      value={treeAsked()}
      onChange={({ currentTarget }) =>
        go(about(location.pathname + location.search, currentTarget.value))
      }
    >
      {trees.map((folder) => (
        <option key={folder} value={folder}>
          {folder.slice(folder.lastIndexOf('/') + 1)}
        </option>
      ))}
    </select>
  );
}

const busWords = {
  unknown: 'connecting',
  online: 'bus online',
  offline: 'bus away',
  away: 'console away',
} as const;

function BusDot(): JSX.Element {
  const { state } = bus.value;
  return (
    <span class={`dot dot-${state}`}>
      <i aria-hidden="true" /> {busWords[state]}
    </span>
  );
}

/** Goes by itself when the bus is back. */
function BusBanner(): JSX.Element {
  const its = bus.value;
  const text =
    its.state === 'offline'
      ? `The bus is away, trying again${its.code === '' ? '' : ` (${its.code})`}. What you see may be old. \`sigma up\` starts a bus.`
      : its.state === 'away'
        ? 'The console does not answer, trying again. Look whether `sigma console` still runs.'
        : '';
  return (
    <div role="status" class={text === '' ? '' : 'banner'}>
      {text}
    </div>
  );
}

function NotFound(): JSX.Element {
  return (
    <section class="page">
      <h1>There is no such page</h1>
      <p>
        The address leads nowhere. <a href="/">Go to the first page</a>, or press <kbd>?</kbd> for
        the keys.
      </p>
    </section>
  );
}

/** Pages come when they are wanted. */
function Shown({ page, route }: { page: Page } & PageProps): JSX.Element {
  const [its, setIts] = useState<{ Its?: ComponentType<PageProps>; fault?: Fault }>({});
  const [error, reset] = useErrorBoundary() as [unknown, () => void];
  useEffect(reset, [route]);
  useEffect(() => {
    page
      .load()
      .then((Its) => setIts({ Its }))
      .catch((error: unknown) => setIts({ fault: faultOf(error) }));
  }, [page]);
  if (error !== undefined) return <ErrorBox fault={faultOf(error)} />;
  if (its.fault !== undefined)
    return (
      <ErrorBox fault={{ ...its.fault, next: 'Reload the page; the console may be newer.' }} />
    );
  return its.Its === undefined ? <Loading /> : <its.Its route={route} />;
}

function useKeys(onHelp: () => void): void {
  const help = useRef(onHelp);
  help.current = onHelp;
  useEffect(() => {
    let chordAt = 0;
    const pressed = (event: KeyboardEvent): void => {
      const { key, target } = event;
      const isTyping =
        target instanceof HTMLElement &&
        (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
      const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
      // A dialog has the keys to itself.
      if (document.querySelector('dialog[open]') !== null) return;
      const isChord = event.timeStamp - chordAt < chordMs;
      const stroke = strokeOf({ key, isTyping, hasModifier }, isChord);
      chordAt = stroke.kind === 'wait' ? event.timeStamp : 0;
      if (stroke.kind === 'none' || stroke.kind === 'wait') return;
      const page = pages.find((each) => stroke.kind === 'go' && each.key === stroke.letter);
      if (stroke.kind === 'go' && page === undefined) return;
      event.preventDefault();
      if (page !== undefined) go(linkTo(page.name));
      if (stroke.kind === 'help') help.current();
      if (stroke.kind === 'search') {
        // That of the page before that of the frame.
        const boxes = document.querySelectorAll<HTMLInputElement>('[data-search]');
        const box = boxes[boxes.length - 1];
        box?.focus();
        box?.select();
      }
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
}

function Help({ onClose }: { onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        <Key keys="/">to the search box</Key>
        {pages
          .filter(({ key }) => key !== undefined)
          .map(({ key, title }) => (
            <Key key={title} keys={`g ${key}`}>
              {title}
            </Key>
          ))}
        <Key keys="?">this list</Key>
        <Key keys="Esc">closes a dialog</Key>
      </dl>
    </Dialog>
  );
}

function Key({ keys, children }: { keys: string; children: ComponentChildren }): JSX.Element {
  return (
    <>
      <dt>
        {keys.split(' ').map((each) => (
          <kbd key={each}>{each}</kbd>
        ))}
      </dt>
      <dd>{children}</dd>
    </>
  );
}
