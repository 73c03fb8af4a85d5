# Two CPUs, in the words of KRASH.
cpu {
	cgroup_root = /
	all_name = alltasks
	burner_basename = krash
	profile {
		0 {
			0	70	# from the beginning
			10	30
		}
		1 {
			5	50
			10	10
		}
	}
}
kill 20
