"""An environment behind HTTP and WebSocket, in the messages of OpenEnv (https://github.com/huggingface/OpenEnv, 0.10).

`llm-envs serve` starts it. Two kinds of credentials, sent as `Authorization: Bearer TOKEN`:

- Infrastructure's token, one a server. It opens sessions, resets them, ends them, may act for any agent, and alone is
  told what was earned and whether the episode is solved.
- An agent's token, one for each agent of a session; infrastructure gets them from `reset` and hands them out. Such a
  token acts for that agent in its turn and sees what that agent sees. It resets nothing (403), and is told no reward:
  one that counts hidden tests would let an agent search for them.

No answer to anybody holds the environment's full state.

| request | who | what |
|---|---|---|
| `POST /reset` | infrastructure | a session, or a new episode in the one of `session_id` |
| `POST /step` | both | acts: `{"action": {"text": ...}}` |
| `GET /state` | both | where the episode stands |
| `DELETE /sessions/ID` | infrastructure | the session ends, and its tokens with it |
| `GET /ws` | both | OpenEnv's clients: `reset`, `step`, `state`, `close` |
| `GET /health`, `/metadata`, `/schema` | anybody | that it works, what it is, what messages look like |

`reset` takes `seed`, `episode_id`, `split` and `index`. Infrastructure names the `session_id` in a step and the query
of `/state`, and may name the agent in the action. A connection to `/ws` with infrastructure's token has a session that
ends with it, one with an agent's token has the agent's. An action that comes while another is under way, or out of
turn, is refused (409), and so is one after the end.
"""
