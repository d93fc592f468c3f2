"""The suite inside other frameworks, one optional module each.

| module | gives | needs |
|---|---|---|
| `inspect_ai` | a task of Inspect | the extra `inspect` |
| `verifiers` | a taskset and an environment of verifiers | the extra `verifiers`, in an environment without `bench` |
| `openenv` | an HTTP server that OpenEnv's clients speak to (`llm-envs serve`) | the extra `serve` |

What a model sees, how a reply is read and what it is paid are everywhere what they are in `llm-envs eval`.
"""
