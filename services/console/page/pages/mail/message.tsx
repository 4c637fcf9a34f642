import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { MessageView } from '../../../../../src/wire/messages.js';
import { beginning, bytesText } from '../../parts/amounts.js';
import { CopyButton } from '../../parts/copy-button.js';
import { Dialog } from '../../parts/dialog.js';
import { Facts } from '../../parts/facts.js';
import { Loadable } from '../../parts/states.js';
import { Time } from '../../parts/time.js';
import { useCall } from '../../use-call.js';

/** A browser shows so much of one text without a pause. */
const shownChars = 100_000;

/** The broker's own reason in words; any other is told as its agent gave it. */
export function reasonText(reason: string): string {
  return reason === 'EXPIRED' ? 'EXPIRED: not handled in its time' : reason;
}

/** Opens one message, with its body where the person may read it. */
export function OpenMessage({ seq }: { seq: number }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="link" onClick={() => setOpen(true)}>
        {seq}
      </button>
      {isOpen && <Message seq={seq} onClose={() => setOpen(false)} />}
    </>
  );
}

function Message({ seq, onClose }: { seq: number; onClose: () => void }): JSX.Element {
  const loaded = useCall('dead show', { seq });
  return (
    <Dialog title={`Message ${seq}`} onClose={onClose}>
      {loaded.fault?.code === 'NO_SUCH_MESSAGE' && (
        <p class="dim">It was settled meanwhile, or you may not read the mail of this agent.</p>
      )}
      <Loadable loaded={loaded} what="Reading the message">
        {({ message }) => (
          <>
            <Envelope view={message} />
            <div class="row">
              <h3>Body</h3>
              {message.encoding !== 'utf8' && <span class="dim">in {message.encoding}</span>}
              <CopyButton text={message.body} />
            </div>
            <pre class="text">{beginning(message.body, shownChars)}</pre>
          </>
        )}
      </Loadable>
    </Dialog>
  );
}

function Envelope({ view }: { view: MessageView }): JSX.Element {
  const { id, from, mailbox, type, correlation, order_key, bytes, state, attempts } = view;
  const { stored_ms, due_ms, expires_ms, reason, dead_ms, reply_to } = view;
  return (
    <Facts
      rows={[
        ['State', state],
        [state === 'dead' ? 'Why' : 'Last failure', reasonText(reason)],
        ['Dead since', dead_ms > 0 && <Time ms={dead_ms} />],
        ['Mailbox', mailbox],
        ['From', from],
        ['Kind', <span class="mono">{type}</span>],
        ['Id', <span class="mono">{id}</span>],
        ['Stored', <Time ms={stored_ms} />],
        ['Not before', due_ms > 0 && <Time ms={due_ms} />],
        ['Expires', expires_ms > 0 && <Time ms={expires_ms} />],
        ['Failed deliveries', attempts > 0 && attempts],
        ['In order with', order_key],
        ['Answers', correlation],
        ['Wants an answer to', reply_to],
        ['Size', bytesText(bytes)],
      ]}
    />
  );
}
