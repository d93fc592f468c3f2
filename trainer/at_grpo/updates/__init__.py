"""Update workers: the processes that train, where one does not do. The driver is a rank of the first."""
