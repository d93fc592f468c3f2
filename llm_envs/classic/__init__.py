"""PettingZoo's classic games as text environments. They need the extra: `pip install 'llm-envs[classic]'`.

    from llm_envs.classic import tictactoe_v0
    env = tictactoe_v0.env()

or `llm_envs.make("llm_envs/tictactoe-v0")`. All play as `llm_envs.wrappers.textualize` says.
"""
