/** The actions of an evaluation: settings, and the prompt with its boundary drawn. */
import type { JSX } from 'preact';
import type { Judgement } from '../protocol.ts';
import { FactList } from './fact-list.tsx';
import { ShownText } from './shown-text.tsx';

/** Actions of a batch that are shown. */
const MAX_ACTIONS = 20;

type Action = Judgement['actions'][number];

export function PromptView({ judgement }: { readonly judgement: Judgement }): JSX.Element {
  const { actions } = judgement;
  const agents = actions.filter(({ kind }) => kind === 'agent');
  return (
    <>
      {actions.slice(0, MAX_ACTIONS).map((action) => (
        <div class="action" key={action.id}>
          <h3>
            {action.kind} <ShownText text={titleOf(action)} />
          </h3>
          <Settings action={action} />
          {action.kind === 'agent' ? (
            <Prompt parts={judgement.prompts[agents.indexOf(action)]} prompt={action.prompt} />
          ) : (
            <pre class="said">
              <ShownText text={action.kind === 'wake' ? action.text : action.message} />
            </pre>
          )}
        </div>
      ))}
      {actions.length > MAX_ACTIONS && <p class="quiet">and {actions.length - MAX_ACTIONS} more actions</p>}
    </>
  );
}

function titleOf(action: Action): string {
  return action.kind === 'wake' ? action.mode : action.name;
}

function Settings({ action }: { readonly action: Action }): JSX.Element | null {
  if (action.kind !== 'agent') return null;
  const channel = action.channel === 'last' ? 'the channel last used' : action.channel;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['session', `${action.sessionKey}${action.oneShot ? ' (ends with the run)' : ''}`],
    ['delivery', action.deliver ? `${channel}${action.to === undefined ? '' : ` to ${action.to}`}` : 'none'],
    ['model', action.model],
    ['thinking', action.thinking],
    ['runner', action.runner],
    ['dedupe', action.dedupe?.key],
  ];
  return <FactList facts={facts} />;
}

interface PromptProps {
  readonly parts: Judgement['prompts'][number] | undefined;
  readonly prompt: string;
}

function Prompt({ parts, prompt }: PromptProps): JSX.Element {
  if (parts?.external === undefined) {
    return (
      <div class="prompt">
        <p class="note">Without the safety boundary: the mapping sets allowUnsafeExternalContent.</p>
        <pre>
          <ShownText text={prompt} />
        </pre>
      </div>
    );
  }
  const { before, external, after } = parts;
  return (
    <div class="prompt">
      <pre>
        <ShownText text={before.trimEnd()} />
      </pre>
      <figure class="boundary">
        <figcaption>from outside, not trusted</figcaption>
        <code class="marker">{external.opening}</code>
        <pre>
          <ShownText text={external.text} />
        </pre>
        <code class="marker">{external.closing}</code>
      </figure>
      {after.trim() !== '' && (
        <pre>
          <ShownText text={after} />
        </pre>
      )}
    </div>
  );
}
