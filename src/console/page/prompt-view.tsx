/** The actions of an evaluation: settings, and the prompt with its boundary drawn. */
import type { JSX } from 'preact';
import type { Judgement } from '../protocol.ts';
import { FactList } from './fact-list.tsx';
import { ShownBlock, ShownText } from './shown-text.tsx';

/** Actions of a batch that are shown. */
const MAX_ACTIONS = 20;

type Action = Judgement['actions'][number];

export function PromptView({ judgement }: { readonly judgement: Judgement }): JSX.Element {
  const { actions } = judgement;
  const agents = actions.filter(({ kind }) => kind === 'agent');
  return (
    <>
      {actions.slice(0, MAX_ACTIONS).map((action) => (
        <ActionItem key={action.id} action={action} parts={judgement.prompts[agents.indexOf(action)]} />
      ))}
      {actions.length > MAX_ACTIONS && <p class="quiet">and {actions.length - MAX_ACTIONS} more actions</p>}
    </>
  );
}

interface ActionProps {
  readonly action: Action;
  /** Of the prompt, where it has one. */
  readonly parts: Judgement['prompts'][number] | undefined;
}

function ActionItem({ action, parts }: ActionProps): JSX.Element {
  return (
    <div class="action">
      <h3>
        {action.kind} <ShownText text={titleOf(action)} />
      </h3>
      <Settings action={action} />
      {action.kind === 'agent' ? (
        <Prompt parts={parts} prompt={action.prompt} />
      ) : (
        <ShownBlock kind="said" text={action.kind === 'wake' ? action.text : action.message} />
      )}
    </div>
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

function Prompt({ parts, prompt }: Pick<ActionProps, 'parts'> & { readonly prompt: string }): JSX.Element {
  if (parts?.external === undefined) {
    return (
      <div class="prompt">
        <p class="note">Without the safety boundary: the mapping sets allowUnsafeExternalContent.</p>
        <ShownBlock text={prompt} />
      </div>
    );
  }
  return <BoundedPrompt before={parts.before} external={parts.external} after={parts.after} />;
}

type PromptParts = NonNullable<ActionProps['parts']>;

function BoundedPrompt(props: {
  readonly before: string;
  readonly external: NonNullable<PromptParts['external']>;
  readonly after: string;
}): JSX.Element {
  const { before, external, after } = props;
  return (
    <div class="prompt">
      <ShownBlock text={before.trimEnd()} />
      <figure class="boundary">
        <figcaption>from outside, not trusted</figcaption>
        <code class="marker">{external.opening}</code>
        <ShownBlock text={external.text} />
        <code class="marker">{external.closing}</code>
      </figure>
      <ShownBlock text={after} />
    </div>
  );
}
