/** Shows the actions of an evaluation: settings, and the prompt with its boundary drawn. */
import type { JSX } from 'preact';
import type { Judgement } from '../protocol.ts';
import { FactList } from './fact-list.tsx';
import { ShownBlock, ShownText } from './shown-text.tsx';

const MAX_ACTIONS = 20;

type ShownAction = Judgement['actions'][number];

export function PromptView({ judgement }: { readonly judgement: Judgement }): JSX.Element {
  const { actions, prompts } = judgement;
  const agents = actions.filter(({ kind }) => kind === 'agent');
  return (
    <>
      {actions.slice(0, MAX_ACTIONS).map((action) => (
        <div class="action" key={action.id}>
          <h3>
            {action.kind} <ShownText text={action.kind === 'wake' ? action.mode : action.name} />
          </h3>
          {action.kind === 'agent' ? (
            <>
              <FactList facts={settingsOf(action)} />
              <Prompt parts={prompts[agents.indexOf(action)]} prompt={action.prompt} />
            </>
          ) : (
            <ShownBlock kind="said" text={action.kind === 'wake' ? action.text : action.message} />
          )}
        </div>
      ))}
      {actions.length > MAX_ACTIONS && <p class="quiet">and {actions.length - MAX_ACTIONS} more actions</p>}
    </>
  );
}

function settingsOf(
  action: Extract<ShownAction, { readonly kind: 'agent' }>,
): readonly (readonly [string, string | undefined])[] {
  const channel = action.channel === 'last' ? 'the channel last used' : action.channel;
  return [
    ['session', `${action.sessionKey}${action.oneShot ? ' (ends with the run)' : ''}`],
    ['delivery', action.deliver ? `${channel}${action.to === undefined ? '' : ` to ${action.to}`}` : 'none'],
    ['model', action.model],
    ['thinking', action.thinking],
    ['runner', action.runner],
    ['dedupe', action.dedupe?.key],
  ];
}

function Prompt(props: {
  /** Absent where the prompt is not split at its markers. */
  readonly parts: Judgement['prompts'][number] | undefined;
  readonly prompt: string;
}): JSX.Element {
  const { before = '', external, after = '' } = props.parts ?? {};
  return external === undefined ? (
    <div class="prompt">
      <p class="note">Without the safety boundary: the mapping sets allowUnsafeExternalContent.</p>
      <ShownBlock text={props.prompt} />
    </div>
  ) : (
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
